"""Both of your results come from the same numbers, so every difference is 0. Two names for x are still one tensor: push
a copy, `x.detach().clone()`.
"""

import microtape as mt


def numerical(f, x, h):
    columns = []
    for i in range(len(x)):
        up = down = x.detach()
        up[i] += h
        down[i] -= h
        columns.append((f(up) - f(down)) / (2 * h))
    return mt.stack(columns, 1).tolist()


def suspects(functions, x):
    return [name for name, f in functions.items() if not mt.autograd.gradcheck(f, (x,), raise_exception=False)]


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
