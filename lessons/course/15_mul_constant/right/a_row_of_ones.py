"""The picked index is a 1 in a column of zeros, and broadcasting does the rest."""

import microtape as mt


class Power(mt.autograd.Function):
    @staticmethod
    def forward(ctx, n, x):
        ctx.save_for_backward(x)
        ctx.exponent = n - 1
        return x * x**ctx.exponent

    @staticmethod
    def backward(ctx, grad_z):
        slope = (ctx.exponent + 1) * ctx.saved_tensors[0] ** ctx.exponent
        return (None, slope * grad_z)


class Pick(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, index):
        ctx.where = len(x), index, x.ndim
        return x[index]

    @staticmethod
    def backward(ctx, grad_z):
        rows, index, dimensions = ctx.where
        column = [float(row == index) for row in range(rows)]
        column = mt.tensor(column).reshape(rows, *[1] * (dimensions - 1))
        return column * grad_z, None
