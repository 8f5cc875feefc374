import microtape as mt

w = mt.tensor(0.5, requires_grad=True)
pairs = [(1.0, 2.1), (2.0, 3.9), (3.0, 6.2)]
total = mt.tensor(0.0)

for x, y in pairs:
    total = total + (w * x - y) ** 2
    total.backward()
    with mt.no_grad():
        w -= 0.01 * w.grad
    w.grad = None

print("mean loss", total.item() / len(pairs))
