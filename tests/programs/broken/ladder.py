import microtape as mt

length = mt.tensor(2.0)
height = mt.tensor([1.0, 1.6, 2.0], requires_grad=True)
wanted = mt.tensor([0.5, 1.0, 1.4])

for step in range(4):
    lean = (height / length).asin()
    loss = ((lean - wanted) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        height -= 0.1 * height.grad
    height.grad = None
    print(step, loss.item(), height.tolist())
