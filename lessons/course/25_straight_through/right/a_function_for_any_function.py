"""`straight_through` is a Function too: forward calls the given function, and backward passes the
gradient on. The given function is not a tensor, so its gradient is None.
"""

import microtape as mt


class Sign(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        sign = mt.ones_like(x)
        sign[x < 0] = -1.0
        return sign

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_x = grad_output.clone()
        grad_x[x.abs() > 1] = 0.0
        return grad_x


class StraightThrough(mt.autograd.Function):
    @staticmethod
    def forward(ctx, function, x):
        return function(x)

    @staticmethod
    def backward(ctx, grad_output):
        return None, grad_output


def straight_through(function, x):
    return StraightThrough.apply(function, x)
