# In place.
#
# The backward of this loss fails, because `+=` overwrites what
# `exp` has saved:
#
#     y = x.exp()
#     y += 1
#     return (y * y).sum()
#
# Write `loss`, which returns the same number and has a gradient.
#
# `SquareInPlace` writes x² into x. After
#
#     same = SquareInPlace.apply(x)
#
# `same` is x itself, which now holds the squares, and the gradient
# of the old x is grad_z · 2·x, with the *old* x.
#
# Complete both.

import microtape as mt


def loss(x):
    raise NotImplementedError


class SquareInPlace(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_z):
        raise NotImplementedError


if __name__ == "__main__":
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    loss(x).backward()
    print(x.grad)

    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    same = SquareInPlace.apply(y)
    same.sum().backward()
    print(same is y, y.detach(), x.grad)
