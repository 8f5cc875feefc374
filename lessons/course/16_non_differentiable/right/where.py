"""where() chooses between two tensors by a mask of True and False, in backward as in forward."""

import microtape as mt


class Parts(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        above, nothing = x > 0, mt.zeros(x.shape)
        mask = mt.where(above, mt.ones(x.shape), nothing)
        ctx.save_for_backward(above)
        ctx.mark_non_differentiable(mask)
        return mt.where(above, x, nothing), mt.where(above, nothing, x), mask

    @staticmethod
    def backward(ctx, grad_gains, grad_losses, _):
        return mt.where(ctx.saved_tensors[0], grad_gains, grad_losses)
