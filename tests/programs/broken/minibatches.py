import microtape as mt

x = mt.arange(8) / 4.0
y = 1.5 * x - 0.5
w = mt.zeros(2, requires_grad=True)


def predict(x):
    return w[0] * x + w[1]


for epoch in range(4):
    w.grad = None
    for start in range(0, 8, 2):
        batch = slice(start, start + 2)
        loss = (predict(x[batch]) - y[batch]).square().mean()
        loss.backward()
        with mt.no_grad():
            w -= 0.05 * w.grad
    print(f"epoch {epoch}: {loss.item():.4f}, w {[round(v, 3) for v in w.tolist()]}")
