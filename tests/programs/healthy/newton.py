import microtape as mt

x = mt.tensor(2.0, requires_grad=True)

for step in range(6):
    y = x**4 - 3 * x**2 + x
    (slope,) = mt.autograd.grad(y, x, create_graph=True)
    (curvature,) = mt.autograd.grad(slope, x)
    with mt.no_grad():
        x -= slope / curvature
    print(f"{step}: x = {x.item():.6f}, slope {slope.item():.2g}")
