"""You already record the part in forward and keep its result. Then everything is in memory, as
without a checkpoint. Run the part again in backward instead.
"""

import microtape as mt


class Checkpoint(mt.autograd.Function):
    @staticmethod
    def forward(ctx, function, x):
        ctx.function = function
        ctx.save_for_backward(x)
        ctx.x = x.detach().requires_grad_()
        with mt.enable_grad():
            ctx.result = function(ctx.x)
        return ctx.result.detach()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        ctx.result.backward(grad_output)
        return None, ctx.x.grad
