import microtape as mt

WIDTH, DEPTH = 16, 16
mt.manual_seed(5)
x = mt.randn(4, WIDTH)
y = mt.randn(4, 1)
weights = [mt.randn(WIDTH, WIDTH, requires_grad=True) for _ in range(DEPTH)]
head = (mt.ones(WIDTH, 1) * 1e-3).requires_grad_()


def loss_of(x, y):
    h = x
    for W in weights:
        h = (h @ W).relu()
    return ((h @ head - y) ** 2).mean()


for epoch in range(2):
    loss = loss_of(x, y)
    loss.backward()
    with mt.no_grad():
        for p in (*weights, head):
            p -= 1e-22 * p.grad
            p.grad = None
    print(f"epoch {epoch}: loss {loss.item():.3g}")
