"""One call of grad() for each tensor; every call but the last has to retain the graph."""

import microtape as mt


def unused(loss, named):
    names = []
    for name, tensor in named.items():
        (gradient,) = mt.autograd.grad(loss, tensor, allow_unused=True, retain_graph=True)
        if gradient is None:
            names.append(name)
    return names


def slopes(f, g, x):
    h = f(x)
    z = g(h)
    (for_h,) = mt.autograd.grad(z, h, retain_graph=True)
    (for_x,) = mt.autograd.grad(z, x)
    return for_h.item(), for_x.item()
