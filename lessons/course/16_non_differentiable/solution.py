# Several outputs, one without a derivative: one way to write it.
#
# backward receives one gradient for each output. The gradients of gains and
# losses add up, because both depend on x. The gradient of the mask is ignored:
# the mask is marked.

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
        return grad_gains * mask + grad_losses * (1 - mask)


if __name__ == "__main__":
    x = mt.tensor([3.0, -1.0, 2.0], requires_grad=True)
    gains, losses, mask = Parts.apply(x)
    print(gains.detach(), losses.detach(), mask)
    (gains * 10 + losses).sum().backward()
    print(x.grad)
