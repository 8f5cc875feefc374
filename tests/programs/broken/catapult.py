import microtape as mt

drop = mt.tensor([0.0, 0.5, 1.0, 1.5])
seen = mt.tensor([0.1, 3.0, 4.5, 5.4])
gravity = mt.tensor(9.0, requires_grad=True)
boost = mt.tensor(0.0, requires_grad=True)

for step in range(4):
    energy = gravity * drop + boost
    speed = (2.0 * energy).sqrt()
    loss = (speed - seen).abs().sum()
    loss.backward()
    with mt.no_grad():
        gravity -= 0.1 * gravity.grad
        boost -= 0.1 * boost.grad
    gravity.grad = boost.grad = None
print(gravity.item(), boost.item())
