"""You write into `x` and do not say so. The tape then still treats y as the result of its old row,
and backward from y skips the squaring. Call `ctx.mark_dirty(x)`.
"""

import microtape as mt


def loss(x):
    y = x.exp()
    y = y + 1
    return (y * y).sum()


class SquareInPlace(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x.mul_(x)
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * 2 * x
