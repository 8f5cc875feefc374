# Two lies.
#
# `Sign` returns -1 where x is negative and 1 everywhere else. Its
# backward passes the gradient on where x is between -1 and 1 (both
# included), and 0 everywhere else.
#
# `straight_through(function, x)` returns function(x). Its backward
# is that of x itself.
#
# Useful: `x >= 0` is a tensor of True and False, `x.abs()` holds
# the absolute values, and `mt.where(condition, a, b)` chooses
# element by element.

import microtape as mt


class Sign(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output):
        raise NotImplementedError


def straight_through(function, x):
    raise NotImplementedError


if __name__ == "__main__":
    x = mt.tensor([-2.0, -0.5, 0.0, 3.0], requires_grad=True)
    sign = Sign.apply(x)
    sign.sum().backward()
    print(sign.detach(), x.grad)
    print(straight_through(mt.floor, x))
