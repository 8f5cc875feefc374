"""You pass every gradient on, however large x is. Where x is beyond -1 and 1, return 0."""

import microtape as mt


class Sign(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mt.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output


def straight_through(function, x):
    return x + (function(x) - x).detach()
