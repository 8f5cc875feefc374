import microtape as mt

chords = mt.tensor([[0.1, 0.8, -0.5], [0.9, -0.2, 0.3]])
target = mt.tensor([[0.5], [0.2]])
W = (mt.eye(3) * 0.8).requires_grad_()
v = (mt.ones(3, 1) * 0.4).requires_grad_()

for epoch in range(4):
    loudness = (chords @ W).tanh()
    quiet = loudness.abs() < 0.2
    loudness[quiet] = 0.0
    loss = ((loudness @ v - target) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, v):
            p -= 0.1 * p.grad
            p.grad = None
