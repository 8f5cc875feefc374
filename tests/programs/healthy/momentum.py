import microtape as mt

x = mt.tensor([1.0, 2.0, 3.0, 4.0])
y = mt.tensor([3.1, 4.9, 7.2, 9.0])
parameters = [mt.tensor(0.0, requires_grad=True), mt.tensor(0.0, requires_grad=True)]
velocities = [mt.zeros_like(p) for p in parameters]

for epoch in range(20):
    w, b = parameters
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p, v in zip(parameters, velocities):
            v.mul_(0.8).add_(p.grad)
            p -= 0.01 * v
            p.grad.zero_()
print([round(p.item(), 3) for p in parameters])
