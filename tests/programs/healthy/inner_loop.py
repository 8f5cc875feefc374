import microtape as mt

tasks = [(1.0, 2.0), (2.0, -1.0), (0.5, 1.0)]
x = mt.linspace(-1.0, 1.0, 5)
w = mt.tensor([0.1, 0.1], requires_grad=True)

for step in range(4):
    outer = mt.tensor(0.0)
    for slope, offset in tasks:
        y = slope * x + offset
        fast = w
        for _ in range(2):
            inner = ((fast[0] * x + fast[1] - y) ** 2).mean()
            (gradient,) = mt.autograd.grad(inner, fast, create_graph=True)
            fast = fast - 0.1 * gradient
        outer = outer + ((fast[0] * x + fast[1] - y) ** 2).mean()
    outer.backward()
    with mt.no_grad():
        w -= 0.05 * w.grad
    w.grad = None
    print(f"step {step}: {outer.item():.4f}")
