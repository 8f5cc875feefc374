# Several outputs, one of them without a derivative.
#
#     x = mt.tensor([3.0, -1.0, 2.0], requires_grad=True)
#     gains, losses, mask = Parts.apply(x)
#
#     gains     [3.,  0., 2.]    x where it is above 0, else 0
#     losses    [0., -1., 0.]    x where it is not, else 0
#     mask      [1.,  0., 1.]    1 where x is above 0, else 0
#
# gains and losses have a derivative, and the gradient of x comes
# from both. The mask has none: mask.requires_grad is False.
#
# Useful: `(x > 0).float()` is 1.0 where x is above 0, else 0.0.
#
# Complete both methods.

import microtape as mt


class Parts(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError


if __name__ == "__main__":
    x = mt.tensor([3.0, -1.0, 2.0], requires_grad=True)
    gains, losses, mask = Parts.apply(x)
    print(gains.detach(), losses.detach(), mask)
    (gains * 10 + losses).sum().backward()
    print(x.grad)
