import microtape as mt

ages = mt.tensor([0.5, 1.4, 2.2, 3.7])
income = mt.tensor([0.0, 1.0, 2.5, 2.0])
width = mt.tensor(1.0, requires_grad=True)
level = mt.zeros(5, requires_grad=True)

for epoch in range(6):
    group = (ages * width).long()
    loss = ((level[group] - income) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        level -= 0.5 * level.grad
        width -= 0.1 * width.grad
    level.grad = width.grad = None
print(level)
