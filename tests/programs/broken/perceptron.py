import microtape as mt

x = mt.tensor([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0], [-2.0, 0.5]])
y = mt.tensor([1.0, 1.0, -1.0, -1.0])
w = mt.tensor([0.2, -0.5], requires_grad=True)
b = mt.tensor(0.1, requires_grad=True)

for epoch in range(10):
    votes = (x @ w + b).sign()
    loss = (1 - y * votes).relu().mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad = b.grad = None
    print(epoch, loss.item())
