"""Your forward does not return the very tensor that it marks dirty: neither a copy nor nothing will do. Return `x`."""

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
        ctx.mark_dirty(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * 2 * x
