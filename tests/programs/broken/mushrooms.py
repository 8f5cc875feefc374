import microtape as mt

caps = mt.tensor([[0.2, 1.0], [0.9, 0.1], [0.4, 0.7], [0.8, 0.3], [0.1, 0.9]])
poisonous = mt.tensor([1.0, 0.0, 1.0, 0.0, 1.0])
W = mt.zeros(2, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)


def cross_entropy(p, y):
    return -(y * p.log() + (1 - y) * (1 - p).log()).mean()


for epoch in range(30):
    p = (caps @ W + b).sigmoid()
    loss = cross_entropy(p, poisonous)
    loss.backward()
    with mt.no_grad():
        W -= 1.0 * W.grad
        b -= 1.0 * b.grad
    W.grad = b.grad = None
print("loss", loss.item(), p.flatten())
