"""The loss is right, but no gradient of the penalty reaches w: your slope has no graph. Compute it
with `create_graph=True`, and do not turn it into a plain number.
"""

# Derivatives of derivatives: one way to write it.
#
# Backward can only go through what is on the tape: create_graph puts the slope
# there. The curve is used as a plain number, so it need not be there.

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
