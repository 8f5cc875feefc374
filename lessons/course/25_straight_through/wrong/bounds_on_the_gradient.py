"""You check whether the *gradient* is small. Check whether x is between -1 and 1."""

import microtape as mt


class Sign(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mt.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return mt.where(grad_output.abs() <= 1, grad_output, 0.0)


def straight_through(function, x):
    return x + (function(x) - x).detach()
