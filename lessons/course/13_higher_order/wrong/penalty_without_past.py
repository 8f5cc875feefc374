"""The loss is right, but no gradient of the penalty gets to w: your slope has no past. Ask for
it with `create_graph=True`, and do not make a plain number of it.
"""

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
        x = x - slope.item() / curve.item()
    return x


def penalized(f, x):
    z = f(x)
    (slope,) = mt.autograd.grad(z, x, retain_graph=True)
    return z + slope * slope
