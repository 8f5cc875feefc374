import microtape as mt

x = mt.tensor([0.0, 1.0, 2.0, 3.0])
y = mt.tensor([1.0, 2.0, 9.0, 4.0])
slope = mt.tensor(0.5, requires_grad=True)
offset = mt.tensor(1.0, requires_grad=True)


def robust(error):
    size = error.abs()
    far = size > 1
    return mt.where(far, mt.where(far, size, 1.0).sqrt() - 0.5, 0.5 * error**2).mean()


for epoch in range(10):
    loss = robust(slope * x + offset - y)
    loss.backward()
    with mt.no_grad():
        slope -= 0.1 * slope.grad
        offset -= 0.1 * offset.grad
        slope.grad = offset.grad = None
print(round(slope.item(), 3), round(offset.item(), 3))
