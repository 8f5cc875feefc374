"""Your backward gives the true slope of a sign, which is 0. That is what the lie is for: hand
on what comes in.
"""

import microtape as mt


class Sign(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mt.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 0.0


def straight_through(function, x):
    return x + (function(x) - x).detach()
