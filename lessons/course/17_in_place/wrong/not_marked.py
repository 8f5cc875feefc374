"""You write into `x` and do not say so: its version stays as it was, so nobody who has kept the
old numbers will notice that they are gone. Call `ctx.mark_dirty(x)`.
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
