# Slopes of slopes.
#
#     newton(lambda x: (x - 3) ** 2 + 5, 10.0, 1)    3.0
#
# `newton` begins at the number x and does this as often as `steps`
# says, then gives the number where it is:
#
#     x = x - slope / curve
#
# where slope is the slope of f at x, and curve the slope of that.
#
#     w = mt.tensor(2.0, requires_grad=True)
#     x = mt.tensor(1.5, requires_grad=True)
#     penalized(lambda x: w * x * x, x)    a tensor: 40.5
#
# `penalized` gives f(x) + slope², where slope is the slope of f at
# x. The result is gone back over later, to w for example, so it has
# to know how slope² came about. No .grad is changed.
#
# Complete both.

import microtape as mt


def newton(f, x, steps):
    raise NotImplementedError


def penalized(f, x):
    raise NotImplementedError


if __name__ == "__main__":
    print(newton(lambda x: (x - 3) ** 2 + 5, 10.0, 1))

    w = mt.tensor(2.0, requires_grad=True)
    x = mt.tensor(1.5, requires_grad=True)
    z = penalized(lambda x: w * x * x, x)
    (for_w,) = mt.autograd.grad(z, w)
    print(z, for_w)
