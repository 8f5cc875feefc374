import microtape as mt

x = mt.tensor([[1.0, 0.1, 0.0], [0.2, 1.0, 0.1], [0.0, 0.3, 1.0], [0.5, 0.5, 0.1]])
y = mt.tensor([2.0, 0.4, 0.1, 1.0])
w = mt.zeros(3, requires_grad=True)

for epoch in range(20):
    loss = ((x @ w - y) ** 2).mean() + 0.05 * w.abs().sum()
    loss.backward()
    with mt.no_grad():
        w -= 0.3 * w.grad
        w[w.abs() < 0.02] = 0.0
    w.grad = None
print([round(v, 3) for v in w.tolist()])
