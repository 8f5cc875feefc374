"""Power keeps its derivative instead of x, and Pick builds its gradient by stacking rows."""

import microtape as mt


class Power(mt.autograd.Function):
    @staticmethod
    def forward(ctx, n, x):
        ctx.save_for_backward(n * x ** (n - 1))
        return x**n

    @staticmethod
    def backward(ctx, grad_z):
        (slope,) = ctx.saved_tensors
        return None, grad_z * slope


class Pick(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, index):
        ctx.rows, ctx.index = len(x), index
        return x[index].clone()

    @staticmethod
    def backward(ctx, grad_z):
        zeros = mt.zeros_like(grad_z)
        return mt.stack([grad_z if row == ctx.index else zeros for row in range(ctx.rows)]), None
