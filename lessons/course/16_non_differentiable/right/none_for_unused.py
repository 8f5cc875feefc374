"""`setup_context` marks the mask, and asks for None in place of zeros; then backward asks which gradients came."""

import microtape as mt


class Parts(mt.autograd.Function):
    @staticmethod
    def forward(x):
        mask = (x > 0).float()
        return x * mask, x * (1 - mask), mask

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, _, mask = output
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_gains, grad_losses, grad_mask):
        (mask,) = ctx.saved_tensors
        grad_x = None
        if grad_gains is not None:
            grad_x = grad_gains * mask
        if grad_losses is not None:
            from_losses = grad_losses * (1 - mask)
            grad_x = from_losses if grad_x is None else grad_x + from_losses
        return grad_x
