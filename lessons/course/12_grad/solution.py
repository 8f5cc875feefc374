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
    for_h, for_x = mt.autograd.grad(g(h), [h, x])
    return for_h.item(), for_x.item()


if __name__ == "__main__":
    a = mt.tensor(2.0, requires_grad=True)
    b = mt.tensor(3.0, requires_grad=True)
    c = mt.tensor(4.0, requires_grad=True)
    print(unused(a * 5 + b * 0, {"a": a, "b": b, "c": c}))
    print(slopes(lambda x: x * x, lambda h: h * 3, a))
