"""You save the squares and use their root as the old x. The root of 4 is 2, but x may have been -2:
its sign is gone. Save a copy of the old numbers, `x.clone()`, before you write.
"""

import microtape as mt


def loss(x):
    y = x.exp()
    y = y + 1
    return (y * y).sum()


class SquareInPlace(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(x)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return grad_z * 2 * z.sqrt()
