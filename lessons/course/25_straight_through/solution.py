# Two lies: one way to tell them.
#
# Forward tells the truth; backward tells what helps.

import microtape as mt


class Sign(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mt.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return mt.where(x.abs() <= 1, grad_output, 0.0)


def straight_through(function, x):
    return x + (function(x) - x).detach()


if __name__ == "__main__":
    x = mt.tensor([-2.0, -0.5, 0.0, 3.0], requires_grad=True)
    sign = Sign.apply(x)
    sign.sum().backward()
    print(sign.detach(), x.grad)
    print(straight_through(mt.floor, x))
