"""It saves the derivative instead of the old numbers, and writes into x in two steps."""

import microtape as mt


def loss(x):
    return (x.exp() + 1).square().sum()


class SquareInPlace(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        slope = 2 * x
        ctx.save_for_backward(slope)
        ctx.mark_dirty(x)
        x.mul_(slope)
        x.div_(2)
        return x

    @staticmethod
    def backward(ctx, grad_z):
        return ctx.saved_tensors[0] * grad_z
