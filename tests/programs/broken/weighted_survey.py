import microtape as mt

ages = mt.tensor([[0.2], [0.5], [0.7], [0.9]])
opinion = mt.tensor([[0.1], [0.4], [0.8], [0.9]])
weight = mt.tensor([1.0, 2.0, 0.5, 1.0])
w = mt.zeros(1, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)

for epoch in range(10):
    errors = (ages @ w + b - opinion) ** 2
    loss = (weight * errors).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.5 * w.grad
        b -= 0.5 * b.grad
    w.grad = b.grad = None
print(round(loss.item(), 4))
