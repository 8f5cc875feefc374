"""Your Power keeps x as an attribute of ctx, where the engine cannot notice that it is overwritten.
Use `ctx.save_for_backward(x)`.
"""

# Arguments that are not tensors: one way to write it.
#
# Each argument has its place among the gradients that backward returns. In the
# place of a number or an index stands None.

import microtape as mt


class Power(mt.autograd.Function):
    @staticmethod
    def forward(ctx, n, x):
        ctx.n = n
        ctx.x = x
        return x**n

    @staticmethod
    def backward(ctx, grad_z):
        x = ctx.x
        return None, grad_z * ctx.n * x ** (ctx.n - 1)


class Pick(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, index):
        ctx.shape = x.shape
        ctx.index = index
        return x[index]

    @staticmethod
    def backward(ctx, grad_z):
        grad_x = mt.zeros(ctx.shape)
        grad_x[ctx.index] = grad_z
        return grad_x, None
