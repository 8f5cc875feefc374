# Asking for gradients.
#
# `named` is a dict of tensors that require a gradient.
#
#     unused(a * 5 + b * 0, {"a": a, "b": b, "c": c})    ["c"]
#
# `unused` returns the names of the tensors that `loss` does not
# depend on, in the order of the dict. Times zero is still a path.
# It changes no .grad, and the caller can still call loss.backward()
# afterwards.
#
#     slopes(lambda x: x * x, lambda h: h * 3, a)    (3.0, 12.0)
#
# `slopes` computes h = f(x) and z = g(h), single numbers, and
# returns the derivative of z with respect to h and the derivative
# of z with respect to x, as plain numbers. It calls f and g once
# and changes no .grad.
#
# Complete both.

import microtape as mt


def unused(loss, named):
    raise NotImplementedError


def slopes(f, g, x):
    raise NotImplementedError


if __name__ == "__main__":
    a = mt.tensor(2.0, requires_grad=True)
    b = mt.tensor(3.0, requires_grad=True)
    c = mt.tensor(4.0, requires_grad=True)
    print(unused(a * 5 + b * 0, {"a": a, "b": b, "c": c}))
    print(slopes(lambda x: x * x, lambda h: h * 3, a))
