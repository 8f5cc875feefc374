import microtape as mt

x = mt.arange(12).reshape(12, 1) / 6.0
y = 2.0 * x - 1.0
w = mt.zeros(1, 1, requires_grad=True)
b = mt.zeros(1, requires_grad=True)
SMALL, EVERY = 2, 3

for epoch in range(4):
    for n, start in enumerate(range(0, 12, SMALL), 1):
        loss = ((x[start : start + SMALL] @ w + b - y[start : start + SMALL]) ** 2).mean() / EVERY
        loss.backward()
        if n % EVERY == 0:
            with mt.no_grad():
                w -= 0.2 * w.grad
                b -= 0.2 * b.grad
            w.grad = b.grad = None
    print(epoch, round(loss.item(), 4))
