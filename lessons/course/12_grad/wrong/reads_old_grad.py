"""You read `.grad`, which only an earlier backward can have filled. Ask about this loss with
`mt.autograd.grad`.
"""

import microtape as mt


def unused(loss, named):
    return [name for name, tensor in named.items() if tensor.grad is None]


def slopes(f, g, x):
    h = f(x)
    for_h, for_x = mt.autograd.grad(g(h), [h, x])
    return for_h.item(), for_x.item()
