"""Your loss writes into `x` itself, which belongs to the caller. Compute a new tensor."""

import microtape as mt


def loss(x):
    with mt.no_grad():
        x.exp_()
    y = x + 1
    return (y * y).sum()


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
