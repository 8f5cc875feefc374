"""The graph of f(x) has been freed, but a backward through the result needs it. `create_graph=True` keeps it, and puts
the slope on the tape.
"""

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
    (slope,) = mt.autograd.grad(z, x)
    return z + slope * slope
