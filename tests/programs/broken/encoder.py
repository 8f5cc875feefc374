import microtape as mt

x = mt.tensor([[0.2, 0.9], [0.7, -0.4], [-1.0, 0.3]])
y = mt.tensor([[1.0], [0.0], [1.0]])
W1 = mt.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)
b1 = mt.zeros(2, requires_grad=True)
W2 = mt.tensor([[1.0], [2.0]], requires_grad=True)


def encode(x):
    return (x @ W1 + b1).tanh().detach()


for epoch in range(5):
    guess = encode(x) @ W2
    loss = (guess - y).square().mean()
    loss.backward()
    with mt.no_grad():
        for p in (W1, b1, W2):
            p -= 0.1 * p.grad
            p.grad = None
