"""The curve is taken with backward: the leaf is new in each step, so its .grad holds nothing
else.
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
        slope.backward()
        x -= slope.item() / at.grad.item()
    return x


def penalized(f, x):
    z = f(x)
    (slope,) = mt.autograd.grad(z, x, create_graph=True)
    return z + slope**2
