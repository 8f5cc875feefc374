import microtape as mt

# A rod that conducts better where it is hot; what conductivity explains the last profile?
dt, steps = 0.05, 8
start = mt.tensor([0.0, 1.0, 2.0, 1.0, 0.5, 0.0])
measured = mt.tensor([0.0, 1.1, 1.3, 1.0, 0.5, 0.0])
conductivity = mt.tensor(1.0, requires_grad=True)

for attempt in range(3):
    u = start * 1.0
    for step in range(steps):
        flux = conductivity * (u[1:] ** 2 - u[:-1] ** 2)
        u[1:-1] += dt * (flux[1:] - flux[:-1])
    loss = ((u - measured) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        conductivity -= 0.1 * conductivity.grad
    conductivity.grad = None
    print(attempt, loss.item())
