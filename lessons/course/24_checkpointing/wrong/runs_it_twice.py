"""Your backward runs the part twice. Every run costs time, and one is enough."""

import microtape as mt


class Checkpoint(mt.autograd.Function):
    @staticmethod
    def forward(ctx, function, x):
        ctx.function = function
        ctx.save_for_backward(x)
        return function(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with mt.enable_grad():
            result = ctx.function(x)
        ctx.function(x)
        result.backward(grad_output)
        return None, x.grad
