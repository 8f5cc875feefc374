import microtape as mt

points = mt.tensor([[0.5, -1.0], [0.2, 0.8], [-0.6, 0.1]], requires_grad=True)
W = mt.tensor([[1.0, -0.5, 0.3], [0.8, 0.2, -0.6]], requires_grad=True)
v = mt.tensor([[1.0], [-2.0], [0.5]], requires_grad=True)

for epoch in range(4):
    score = (points @ W).relu() @ v
    (slopes,) = mt.autograd.grad(score.sum(), points, create_graph=True)
    steepness = (slopes.square().sum(dim=1) + 1e-12).sqrt()
    loss = score.mean() + 0.1 * ((steepness - 1.0) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, v):
            p -= 0.1 * p.grad
            p.grad = None
    points.grad = None
    print(f"{epoch}: {loss.item():.4f}")
