import microtape as mt

# Steps of a length of their own, however large the gradient is.
place = mt.tensor([3.0, -2.0], requires_grad=True)
length = 0.5

for step in range(12):
    height = 1e4 * (place[0] ** 2 + 3 * place[1] ** 2)
    height.backward()
    with mt.no_grad():
        place -= length * place.grad / (place.grad.norm() + 1e-12)
    place.grad = None
    length *= 0.9
print([round(v, 3) for v in place.tolist()])
