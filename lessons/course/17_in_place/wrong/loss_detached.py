"""You detach the result of exp before you add to it. Then it may be overwritten, but no gradient
reaches `x` any more.
"""

import microtape as mt


def loss(x):
    y = x.exp()
    y = y.detach()
    y += 1
    return (y * y).sum() + 0 * x.sum()


class SquareInPlace(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x.mul_(x)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * 2 * x
