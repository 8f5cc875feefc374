"""You call backward and read .grad. That changes every .grad, says nothing about results in the
middle, and includes what an earlier backward left there.
"""

# Asking for gradients: one way to write it.
#
# Only None says that no path leads to a tensor. grad() takes a result in the
# middle in the same way as a leaf.

import microtape as mt


def unused(loss, named):
    loss.backward(retain_graph=True)
    gradients = [tensor.grad if tensor.is_leaf else loss for tensor in named.values()]
    return [name for name, gradient in zip(named, gradients, strict=True) if gradient is None]


def slopes(f, g, x):
    h = f(x)
    for_h, for_x = mt.autograd.grad(g(h), [h, x])
    return for_h.item(), for_x.item()
