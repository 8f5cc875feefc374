"""What is handed in for gains is lost. Both outputs lead to x: add."""

# Several outputs, one without a slope: one way to write it.
#
# Every output hands a gradient in, and what two of them say about the same
# number is added. What the mask says is not used: it is marked.

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
        return grad_losses * (1 - mask)
