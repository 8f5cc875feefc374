import microtape as mt

x = mt.tensor([2.0, 1.0, -1.0, -2.0])
y = mt.tensor([1.0, 1.0, -1.0, -1.0])
w = mt.tensor(0.1, requires_grad=True)
b = mt.tensor(0.3, requires_grad=True)

for epoch in range(40):
    loss = (1 - y * (w * x + b)).relu().mean()
    if loss.item() == 0:
        break
    loss.backward()
    with mt.no_grad():
        w -= 0.2 * w.grad
        b -= 0.2 * b.grad
    w.grad = b.grad = None
print(f"separated after {epoch} epochs")
