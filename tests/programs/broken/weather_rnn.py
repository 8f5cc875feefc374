import microtape as mt

HOURS, SIZE = 5, 3
readings = mt.linspace(-1.0, 1.0, HOURS * 2).reshape(HOURS, 1, 2)
U = (mt.arange(2 * SIZE).reshape(2, SIZE) / 10).requires_grad_()
W = (mt.eye(SIZE) * 0.5).requires_grad_()
out = mt.ones(SIZE, 1, requires_grad=True)

for epoch in range(3):
    states = mt.zeros(HOURS + 1, 1, SIZE)
    for t in range(HOURS):
        states[t + 1] = (readings[t] @ U + states[t] @ W).tanh()
    tomorrow = states[HOURS] @ out
    loss = ((tomorrow - 0.7) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        for p in (U, W, out):
            p -= 0.1 * p.grad
            p.grad = None
