import microtape as mt

DAYS, SIZE = 40, 3
moods = (mt.arange(DAYS) * 0.7).sin()
w_in = mt.tensor([[0.5, -0.3, 0.8]], requires_grad=True)
W = (mt.tensor([[0.5, 0.1, 0.0], [0.0, 0.4, 0.2], [0.1, 0.0, 0.3]]) * 0.5).requires_grad_()
first = mt.zeros(1, SIZE, requires_grad=True)
out = mt.ones(SIZE, 1, requires_grad=True)


def step(h, x):
    return (x * w_in + h @ W).tanh()


for epoch in range(3):
    h = first
    for mood in moods:
        h = step(h, mood)
    loss = ((h @ out).sum() - 1.0) ** 2
    loss.backward()
    with mt.no_grad():
        for p in (w_in, W, first, out):
            p -= 0.05 * p.grad
            p.grad = None
    print(f"loss {loss.item():.4f}")
