import microtape as mt

mt.manual_seed(2)
ratings = mt.tensor([[5.0, 0.0, 3.0], [0.0, 4.0, 1.0], [0.0, 0.0, 0.0]])  # one user is new
films = mt.nn.functional.normalize(mt.randn(6, 2), dim=1)
likes = mt.randint(0, 6, (3,))
W = (0.3 * mt.randn(3, 2)).requires_grad_()
b = mt.zeros(2, requires_grad=True)

for step in range(6):
    taste = ratings @ W + b
    direction = taste / (taste.norm(dim=1, keepdim=True) + 0.1)
    loss = mt.nn.functional.cross_entropy(direction @ films.T, likes)
    loss.backward()
    with mt.no_grad():
        for p in (W, b):
            p -= 0.05 * p.grad
            p.grad = None
    print(step, loss.item())
