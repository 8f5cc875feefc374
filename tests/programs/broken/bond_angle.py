import microtape as mt

carbon = mt.tensor([0.0, 0.0, 0.0])
hydrogen = mt.tensor([[0.3, 0.7, 0.2], [1.5, 3.5, 1.0]], requires_grad=True)
wanted = 1.91


def cosine_between(a, b):
    return (a * b).sum() / (a.square().sum() * b.square().sum()).sqrt()


for step in range(3):
    first, second = hydrogen - carbon
    cosine = cosine_between(first, second)
    angle = cosine.acos()
    energy = (angle - wanted) ** 2
    energy.backward()
    with mt.no_grad():
        hydrogen -= 0.05 * hydrogen.grad
    hydrogen.grad = None
    print(step, energy.item())
