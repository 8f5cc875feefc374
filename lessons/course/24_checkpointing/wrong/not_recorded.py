"""Nothing is recorded inside of a backward either, so there is nothing to go back over. Run the part
under `mt.enable_grad()`.
"""

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
        result = ctx.function(x)
        result.backward(grad_output)
        return None, x.grad
