"""You return the names of the functions that pass. Return the others."""

# Finding a wrong backward: one way to write it.
#
# Softplus forgot the gradient that arrives. Center forgot that every number
# takes part in the mean: the gradient of each result goes to all numbers.

import microtape as mt


def numerical(f, x, h):
    columns = []
    for i in range(len(x)):
        push = mt.zeros_like(x)
        push[i] = h
        columns.append((f(x + push) - f(x - push)) / (2 * h))
    return mt.stack(columns, 1).tolist()


def suspects(functions, x):
    return [name for name, f in functions.items() if mt.autograd.gradcheck(f, (x,), raise_exception=False)]


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
        return grad_z / (1 + (-x).exp())


class Center(mt.autograd.Function):
    """z = x - the mean of x"""

    @staticmethod
    def forward(ctx, x):
        return x - x.mean()

    @staticmethod
    def backward(ctx, grad_z):
        return grad_z - grad_z.mean()
