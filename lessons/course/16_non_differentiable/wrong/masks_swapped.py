"""You let gradients through where they should be stopped: the derivative of gains is 1 where the
mask is 1; that of losses is 1 where the mask is 0.
"""

# Several outputs, one without a derivative: one way to write it.
#
# Every output brings a gradient to backward, and the two that lead to the same
# number of x add up. The gradient of the mask is ignored: the mask is marked.

import microtape as mt


class Parts(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = (x > 0).float()
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        return x * mask, x * (1 - mask), mask

    @staticmethod
    def backward(ctx, grad_gains, grad_losses, grad_mask):
        (mask,) = ctx.saved_tensors
        return grad_gains * (1 - mask) + grad_losses * mask
