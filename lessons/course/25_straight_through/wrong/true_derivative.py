"""Your backward returns the true derivative of the sign, which is 0. Tell the lie instead: pass the
gradient on.
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
