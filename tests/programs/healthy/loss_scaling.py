import microtape as mt

SCALE = 1024.0
x = mt.tensor([0.001, 0.002, 0.004])
y = mt.tensor([0.003, 0.006, 0.012])
w = mt.tensor(1.0, requires_grad=True)

for epoch in range(10):
    loss = ((w * x - y) ** 2).mean()
    (loss * SCALE).backward()
    with mt.no_grad():
        w.grad /= SCALE
        w -= 2e4 * w.grad
    w.grad = None
print(round(w.item(), 3))
