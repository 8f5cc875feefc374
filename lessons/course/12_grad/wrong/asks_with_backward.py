"""You call `backward` and look who has no `.grad`. A tensor in the middle never has one, and the
leaves that do keep it. Ask with `mt.autograd.grad`, which returns the gradients.
"""

import microtape as mt


def unused(loss, named):
    loss.backward()
    return [name for name, tensor in named.items() if tensor.grad is None]


def slopes(f, g, x):
    h = f(x)
    for_h, for_x = mt.autograd.grad(g(h), [h, x])
    return for_h.item(), for_x.item()
