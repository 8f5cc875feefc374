"""It uses only the definition: it compares the table from pushes with the table from backward. The
formulas of each Function are written in another order.
"""

# Finding a wrong backward: one way to write it.
#
# Softplus forgot the gradient that arrives. Center forgot that every number
# takes part in the mean: the gradient of each result goes to all numbers.

import microtape as mt


def numerical(f, x, h):
    x, table = x.detach(), []
    pushes = h * mt.eye(len(x), dtype=x.dtype)
    for push in pushes:
        table.append([above - below for above, below in zip(f(x + push).tolist(), f(x - push).tolist(), strict=True)])
    return [[difference / (2 * h) for difference in row] for row in zip(*table, strict=True)]


def analytical(f, x):
    z = f(x)
    ones = mt.eye(len(z), dtype=z.dtype)
    return [mt.autograd.grad(z, x, one, retain_graph=True)[0].tolist() for one in ones]


def suspects(functions, x):
    names = []
    for name, f in functions.items():
        difference = mt.tensor(numerical(f, x, 1e-6)) - mt.tensor(analytical(f, x))
        if difference.abs().max().item() > 1e-4:
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
        return (1 / (1 + (-x).exp())) * grad_z


class Center(mt.autograd.Function):
    """z = x - the mean of x"""

    @staticmethod
    def forward(ctx, x):
        return x - x.mean()

    @staticmethod
    def backward(ctx, grad_z):
        return grad_z - grad_z.mean()
