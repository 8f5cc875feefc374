import microtape as mt


def clip(gradient):
    return gradient / gradient.norm(dim=1) if gradient.norm() > 1 else gradient


x = mt.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
y = mt.tensor([1.0, 0.0, 2.0])
w = mt.tensor([4.0, -3.0], requires_grad=True)
b = mt.tensor(0.0, requires_grad=True)
w.register_hook(clip)

for epoch in range(3):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad = b.grad = None
