import microtape as mt


def distance(a, b):
    return ((a - b) ** 2).sum(dim=-1).sqrt()


points = mt.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], requires_grad=True)
wanted = mt.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])

for step in range(3):
    pairs = distance(points[:, None, :], points[None, :, :])
    stress = ((pairs - wanted) ** 2).sum()
    stress.backward()
    with mt.no_grad():
        points -= 0.05 * points.grad
    points.grad = None
print(points)
