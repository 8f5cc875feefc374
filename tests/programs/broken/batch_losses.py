import microtape as mt

w = mt.tensor(1.0, requires_grad=True)
data = [(1.0, 2.0), (2.0, 4.1), (3.0, 5.9)]

for epoch in range(3):
    losses = []
    for x, y in data:
        losses.append(((w * x - y) ** 2).item())
    loss = mt.tensor(losses).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.05 * w.grad
    w.grad = None
    print(loss.item())
