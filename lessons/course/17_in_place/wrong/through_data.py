"""You change the numbers that `exp` has saved behind the engine's back, as `.data` does. There is no error, and the
gradient is wrong. Compute a new tensor: `y = y + 1`.
"""

import microtape as mt


def loss(x):
    y = x.exp()
    y.data += 1
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
