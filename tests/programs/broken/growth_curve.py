import microtape as mt

age = mt.tensor([-1.0, 1.0, 2.0, 4.0])
measured = mt.tensor([1.0, 1.0, 4.2, 15.5])
scale = mt.tensor(1.0, requires_grad=True)
power = mt.tensor(2.0, requires_grad=True)

for epoch in range(3):
    height = scale * age**power
    loss = (height - measured).square().mean()
    loss.backward()
    with mt.no_grad():
        scale -= 1e-3 * scale.grad
        power -= 1e-3 * power.grad
    print(epoch, loss.item(), power.grad.item())
    scale.grad = power.grad = None
