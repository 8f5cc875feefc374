import microtape as mt

DEPTH, WIDTH = 14, 4
x = mt.linspace(-1.0, 1.0, 3 * WIDTH).reshape(3, WIDTH)
y = mt.tensor([[0.2], [0.5], [0.9]])
Ws = [((mt.arange(WIDTH * WIDTH) * 1.7 + k).sin().reshape(WIDTH, WIDTH) * 0.2).requires_grad_() for k in range(DEPTH)]
head = (mt.ones(WIDTH, 1) * 0.3).requires_grad_()

for epoch in range(4):
    h = x
    for W in Ws:
        h = h + (h @ W).sigmoid() * 0.1
    loss = ((h @ head - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (*Ws, head):
            p -= 0.05 * p.grad
            p.grad = None
    print(epoch, round(loss.item(), 4))
