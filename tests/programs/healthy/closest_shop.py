import microtape as mt

shops = mt.tensor([[0.0, 1.0], [2.0, 0.5], [1.0, 3.0]])
house = mt.tensor([1.5, 1.8], requires_grad=True)

for step in range(8):
    nearest = mt.tensor(float("inf"))
    for shop in shops:
        nearest = mt.minimum(nearest, ((house - shop) ** 2).sum())
    farthest = ((house - shops) ** 2).sum(1).max()
    loss = nearest + 0.5 * farthest
    loss.backward()
    with mt.no_grad():
        house -= 0.1 * house.grad
    house.grad = None
print(house)
