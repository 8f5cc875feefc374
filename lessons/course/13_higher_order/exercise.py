# Derivatives of derivatives.
#
#     newton(lambda x: (x - 3) ** 2 + 5, 10.0, 1)    3.0
#
# `newton` starts at the number x, repeats this line `steps` times,
# and returns the last x as a number:
#
#     x = x - slope / curve
#
# where slope is the derivative of f at x, and curve is the second
# derivative.
#
#     w = mt.tensor(2.0, requires_grad=True)
#     x = mt.tensor(1.5, requires_grad=True)
#     penalized(lambda x: w * x * x, x)    a tensor: 40.5
#
# `penalized` returns f(x) + slope², where slope is the derivative
# of f at x. Backward will go through the result later, to w for
# example, so slope² has to be on the tape. No .grad is changed.
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
