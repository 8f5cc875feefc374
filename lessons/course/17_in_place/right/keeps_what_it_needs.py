"""It saves 2·x instead of x, which is all that backward needs."""

import microtape as mt


def loss(x):
    y = 1 + x.exp()
    return y.square().sum()


class SquareInPlace(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(2 * x)
        x *= x
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (slope,) = ctx.saved_tensors
        return grad_z * slope
