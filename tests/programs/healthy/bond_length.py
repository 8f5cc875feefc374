import microtape as mt

measured = mt.tensor([2.9e-10, 3.3e-10, 2.7e-10], dtype=mt.float64)  # metres
depth = mt.tensor(1.6e-21, dtype=mt.float64)
sigma = mt.tensor(2.5e-10, dtype=mt.float64, requires_grad=True)
seen = mt.tensor([-1.2e-21, -1.1e-21, -1.1e-21], dtype=mt.float64)

for step in range(5):
    ratio = (sigma / measured) ** 6
    energy = 4 * depth * (ratio * ratio - ratio)
    loss = (((energy - seen) / depth) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        sigma -= 1e-23 * sigma.grad
        sigma.grad = None
    print(step, loss.item(), sigma.item())
