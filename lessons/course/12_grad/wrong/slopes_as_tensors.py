"""The derivatives are right, but still tensors. Return plain numbers: `.item()` of each."""

import microtape as mt


def unused(loss, named):
    gradients = mt.autograd.grad(loss, list(named.values()), allow_unused=True, retain_graph=True)
    return [name for name, gradient in zip(named, gradients, strict=True) if gradient is None]


def slopes(f, g, x):
    h = f(x)
    return mt.autograd.grad(g(h), [h, x])
