import microtape as mt

rows = mt.tensor([[1.0, 2.0], [2.0, 1.0], [0.5, 0.3], [1.5, 1.1], [0.7, 2.2], [0.1, 0.4]])
y = mt.tensor([[1.0], [0.0], [1.0], [0.0], [1.0], [0.0]])
W = mt.tensor([[0.3, 0.1], [-0.2, 0.4]], requires_grad=True)
gain, shift = mt.ones(2, requires_grad=True), mt.zeros(2, requires_grad=True)
v = mt.tensor([[0.5], [-0.5]], requires_grad=True)
running_mean, running_var = mt.zeros(2), mt.ones(2)

for start in (0, 3, 0, 3):
    h = rows[start : start + 3] @ W
    mean, var = h.mean(0), h.var(0)
    with mt.no_grad():
        running_mean.mul_(0.9).add_(0.1 * mean)
        running_var.mul_(0.9).add_(0.1 * var)
    h = (h - mean) / (var + 1e-5).sqrt() * gain + shift
    loss = ((h.tanh() @ v - y[start : start + 3]) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, gain, shift, v):
            p -= 0.05 * p.grad
            p.grad = None
print(running_mean, running_var)
