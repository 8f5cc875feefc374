"""Every step of yours begins at the first x. Begin where the step before has ended."""

# Slopes of slopes: one way to write it.
#
# What is to be gone back over has to be on the tape: create_graph puts the
# slope there. The curve is only looked at, so it need not be on it.

import microtape as mt


def newton(f, x, steps):
    at = mt.tensor(x, requires_grad=True)
    for _ in range(steps):
        (slope,) = mt.autograd.grad(f(at), at, create_graph=True)
        (curve,) = mt.autograd.grad(slope, at)
        x = at.item() - slope.item() / curve.item()
    return x


def penalized(f, x):
    z = f(x)
    (slope,) = mt.autograd.grad(z, x, create_graph=True)
    return z + slope * slope
