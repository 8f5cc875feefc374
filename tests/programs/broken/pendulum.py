import microtape as mt

dt, steps = 0.5, 50
stiffness = mt.tensor(6.0, requires_grad=True)
push = mt.tensor(0.1, requires_grad=True)
final = 0.0


def simulate(stiffness, push):
    angle, speed = mt.tensor(0.2), push
    for step in range(steps):
        angle, speed = angle + dt * speed, speed - dt * stiffness * angle
    return angle


for attempt in range(3):
    loss = (simulate(stiffness, push) - final).abs()
    loss.backward()
    with mt.no_grad():
        stiffness -= 1e-16 * stiffness.grad
        push -= 1e-16 * push.grad
    print(f"{attempt}: loss {loss.item():.3g}, slope {push.grad.item():.3g}")
    stiffness.grad = push.grad = None
