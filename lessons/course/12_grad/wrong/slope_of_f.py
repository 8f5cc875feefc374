"""Your first number is the derivative of f at x. Return the derivative of z with respect to h, the
result in the middle.
"""

# Asking for gradients: one way to write it.
#
# Only None says that no path leads to a tensor. grad() takes a result in the
# middle in the same way as a leaf.

import microtape as mt


def unused(loss, named):
    gradients = mt.autograd.grad(loss, list(named.values()), allow_unused=True, retain_graph=True)
    return [name for name, gradient in zip(named, gradients, strict=True) if gradient is None]


def slopes(f, g, x):
    h = f(x)
    z = g(h)
    (for_h,) = mt.autograd.grad(h, x, retain_graph=True)
    (for_x,) = mt.autograd.grad(z, x)
    return for_h.item(), for_x.item()
