# Finding a wrong backward.
#
# `numerical` returns the table of all derivatives of f at x: a list
# of m lists of n numbers, where x has n numbers and f(x) has m. For
# each derivative, push one number of x by +h and by -h, and divide
# the difference of the two results by 2·h.
#
# `suspects` takes a dict of functions and returns the names of the
# functions whose backward is wrong at x. Use gradcheck.
#
# Some of the three Functions below have a wrong backward. Find out
# which, and fix them.

import microtape as mt


def numerical(f, x, h):
    raise NotImplementedError


def suspects(functions, x):
    raise NotImplementedError


class Sigmoid(mt.autograd.Function):
    """z = 1 / (1 + e⁻ˣ)"""

    @staticmethod
    def forward(ctx, x):
        z = 1 / (1 + (-x).exp())
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return grad_z * z * (1 - z)


class Softplus(mt.autograd.Function):
    """z = log(1 + eˣ)"""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (1 + x.exp()).log()

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return 1 / (1 + (-x).exp())


class Center(mt.autograd.Function):
    """z = x - the mean of x"""

    @staticmethod
    def forward(ctx, x):
        return x - x.mean()

    @staticmethod
    def backward(ctx, grad_z):
        return grad_z


if __name__ == "__main__":
    x = mt.tensor([0.5, -1.0, 2.0], dtype=mt.float64)
    x.requires_grad_()
    print(numerical(lambda x: x[1:] * x[:-1], x, 1e-6))
    functions = {
        "Sigmoid": Sigmoid.apply,
        "Softplus": Softplus.apply,
        "Center": Center.apply,
    }
    print(suspects(functions, x))
