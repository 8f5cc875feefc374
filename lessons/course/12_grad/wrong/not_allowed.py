"""If a tensor is not used, grad() raises an error. Say that you allow it: `allow_unused=True`."""

# Asking for gradients: one way to write it.
#
# Only None says that no path leads to a tensor. grad() takes a result in the
# middle in the same way as a leaf.

import microtape as mt


def unused(loss, named):
    gradients = mt.autograd.grad(loss, list(named.values()), retain_graph=True)
    return [name for name, gradient in zip(named, gradients, strict=True) if gradient is None]


def slopes(f, g, x):
    h = f(x)
    for_h, for_x = mt.autograd.grad(g(h), [h, x])
    return for_h.item(), for_x.item()
