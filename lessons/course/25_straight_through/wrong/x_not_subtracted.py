"""Your forward returns x + function(x). Subtract x again inside `detach`, where backward does not
see it.
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
        return mt.where(x.abs() <= 1, grad_output, 0.0)


def straight_through(function, x):
    return x + function(x).detach()
