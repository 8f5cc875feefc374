import microtape as mt

experts = [mt.tensor([[0.5], [0.1]], requires_grad=True) for _ in range(3)]
batches = [(0, mt.tensor([[1.0, 0.2]]), 1.0), (2, mt.tensor([[0.3, 0.9]]), 0.5), (0, mt.tensor([[0.8, 0.1]]), 0.9)]

for epoch in range(4):
    for chosen, x, y in batches:
        loss = ((x @ experts[chosen] - y) ** 2).sum()
        loss.backward()
        with mt.no_grad():
            for p in experts:
                if p.grad is not None:
                    p -= 0.2 * p.grad
                    p.grad = None
print([round(p.sum().item(), 3) for p in experts])
