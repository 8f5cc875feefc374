"""You go the other way: x minus slope / curve."""

# Slopes of slopes: one way to write it.
#
# What is to be gone back over has to be on the tape: create_graph puts the
# slope there. The curve is only looked at, so it need not be on it.

import microtape as mt


def newton(f, x, steps):
    for _ in range(steps):
        at = mt.tensor(x, requires_grad=True)
        (slope,) = mt.autograd.grad(f(at), at, create_graph=True)
        (curve,) = mt.autograd.grad(slope, at)
        x = x + slope.item() / curve.item()
    return x


def penalized(f, x):
    z = f(x)
    (slope,) = mt.autograd.grad(z, x, create_graph=True)
    return z + slope * slope
