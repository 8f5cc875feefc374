"""Your `newton` ends after one step, and with no steps it returns None. The `return` belongs after the loop."""

import microtape as mt


def newton(f, x, steps):
    for _ in range(steps):
        at = mt.tensor(x, requires_grad=True)
        (slope,) = mt.autograd.grad(f(at), at, create_graph=True)
        (curve,) = mt.autograd.grad(slope, at)
        x = x - slope.item() / curve.item()
        return x


def penalized(f, x):
    z = f(x)
    (slope,) = mt.autograd.grad(z, x, create_graph=True)
    return z + slope * slope
