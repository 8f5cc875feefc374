"""`forward` is the plain computation; `setup_context` keeps the number, the tensor or the shape."""

import microtape as mt


class Power(mt.autograd.Function):
    @staticmethod
    def forward(n, x):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n, x = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return None, ctx.n * x ** (ctx.n - 1) * grad_z


class Pick(mt.autograd.Function):
    @staticmethod
    def forward(x, index):
        return x[index].clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.index = inputs
        ctx.shape = x.shape

    @staticmethod
    def backward(ctx, grad_z):
        grad_x = mt.zeros(*ctx.shape)
        grad_x[ctx.index] = grad_z
        return grad_x, None
