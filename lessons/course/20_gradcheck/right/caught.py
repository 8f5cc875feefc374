"""gradcheck raises an error, which serves as the answer. Softplus divides x.exp() by 1 + x.exp()."""

# Finding a wrong backward: one way to write it.
#
# Softplus forgot the gradient that arrives. Center forgot that every number
# takes part in the mean: the gradient of each result goes to all numbers.

import microtape as mt


def numerical(f, x, h):
    rows = len(f(x))
    table = [[0.0] * len(x) for _ in range(rows)]
    for i in range(len(x)):
        for sign in (1, -1):
            pushed = x.detach().clone()
            pushed[i] += sign * h
            for row, value in zip(table, f(pushed).tolist(), strict=True):
                row[i] += sign * value / (2 * h)
    return table


def suspects(functions, x):
    names = []
    for name, f in functions.items():
        try:
            mt.autograd.gradcheck(f, [x])
        except RuntimeError:
            names.append(name)
    return names


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
        return grad_z * x.exp() / (1 + x.exp())


class Center(mt.autograd.Function):
    """z = x - the mean of x"""

    @staticmethod
    def forward(ctx, x):
        return x - x.mean()

    @staticmethod
    def backward(ctx, grad_z):
        return grad_z - grad_z.sum() / len(grad_z)
