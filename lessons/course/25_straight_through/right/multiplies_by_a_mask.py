"""backward multiplies the gradient by a mask of 1 and 0 instead of choosing. And the line with
`detach` begins with the value of the function; backward goes through a difference of 0.
"""

import microtape as mt


class Sign(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x >= 0) * 2.0 - 1.0

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        inside = (x >= -1) * (x <= 1)
        return grad_output * inside


def straight_through(function, x):
    return function(x).detach() + (x - x.detach())
