"""You call `backward` and look for tensors without a `.grad`. A tensor in the middle never has one,
and your call changes the `.grad` of the leaves. Call `mt.autograd.grad`, which returns the
gradients.
"""

import microtape as mt


def unused(loss, named):
    loss.backward()
    return [name for name, tensor in named.items() if tensor.grad is None]


def slopes(f, g, x):
    h = f(x)
    for_h, for_x = mt.autograd.grad(g(h), [h, x])
    return for_h.item(), for_x.item()
