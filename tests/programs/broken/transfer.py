import microtape as mt

mt.manual_seed(0)
backbone = [mt.randn(3, 3, requires_grad=True) for _ in range(2)]
head = mt.randn(3, 1, requires_grad=True)
x, y = mt.randn(5, 3), mt.ones(5, 1)


def features(x):
    with mt.no_grad():
        h = x
        for W in backbone:
            h = (h @ W).relu()
        return h


for epoch in range(3):
    loss = ((features(x) @ head - y) ** 2).mean()
    loss.backward()
    for p in [*backbone, head]:
        p.data -= 0.01 * p.grad
        p.grad = None
