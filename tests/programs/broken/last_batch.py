import microtape as mt

rows = mt.tensor([[1.0, 2.0], [2.0, 1.0], [0.5, 0.3], [1.5, 1.1], [0.7, 2.2]])
labels = mt.tensor([[1.0], [0.0], [1.0], [0.0], [1.0]])
W = mt.tensor([[0.3, 0.1], [-0.2, 0.4]], requires_grad=True)
V = mt.tensor([[0.5], [-0.5]], requires_grad=True)


def normalize(x):
    return (x - x.mean(0)) / (x.std(0) + 1e-5)


for start in range(0, len(rows), 2):
    x, y = rows[start : start + 2], labels[start : start + 2]
    guess = normalize(x @ W).tanh() @ V
    loss = ((guess - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, V):
            p -= 0.1 * p.grad
            p.grad = None
    print(start, loss.item())
