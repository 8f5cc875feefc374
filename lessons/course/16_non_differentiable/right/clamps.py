"""clamp makes the two parts, and backward looks at the sign of the saved numbers. For an
output that was not used, backward receives None.
"""

import microtape as mt


class Parts(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        mask = x.sign().clamp(min=0)
        ctx.mark_non_differentiable(mask)
        return x.clamp(min=0), x.clamp(max=0), mask

    @staticmethod
    def backward(ctx, *grad_outputs):
        (x,) = ctx.saved_tensors
        grad_x = mt.zeros(x.shape)
        for gradient, part in zip(grad_outputs, [x > 0, x <= 0], strict=False):
            if gradient is not None:
                grad_x = grad_x + gradient * part
        return grad_x
