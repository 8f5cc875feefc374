import microtape as mt


def robust(error):
    return mt.where(error.abs() < 1, 0.5 * error**2, error.abs().sqrt() - 0.5).mean()


x = mt.tensor([0.0, 1.0, 2.0, 3.0])
y = mt.tensor([1.0, 2.0, 9.0, 4.0])
slope = mt.tensor(0.5, requires_grad=True)
offset = mt.tensor(1.0, requires_grad=True)

for epoch in range(10):
    loss = robust(slope * x + offset - y)
    loss.backward()
    with mt.no_grad():
        slope -= 0.1 * slope.grad
        offset -= 0.1 * offset.grad
        slope.grad = offset.grad = None
print(slope.item(), offset.item())
