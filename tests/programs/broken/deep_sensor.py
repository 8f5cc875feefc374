import microtape as mt

DEPTH, WIDTH = 16, 4
signal = mt.linspace(-1.0, 1.0, 3 * WIDTH).reshape(3, WIDTH)
target = mt.tensor([[0.0], [1.0], [0.0]])
Ws = [((mt.arange(WIDTH * WIDTH) + k).sin().reshape(WIDTH, WIDTH) * 0.5).requires_grad_() for k in range(DEPTH)]
head = mt.ones(WIDTH, 1, requires_grad=True)

for epoch in range(3):
    h = signal
    for W in Ws:
        h = (h @ W).sigmoid()
    loss = ((h @ head - target) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (*Ws, head):
            p -= 0.5 * p.grad
            p.grad = None
print(f"loss {loss.item():.4f}")
