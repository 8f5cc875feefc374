# In place: one way to write it.
#
# What backward needs is saved before it is overwritten.

import microtape as mt


def loss(x):
    y = x.exp()
    y = y + 1
    return (y * y).sum()


class SquareInPlace(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x.mul_(x)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * 2 * x


if __name__ == "__main__":
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    loss(x).backward()
    print(x.grad)

    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    same = SquareInPlace.apply(y)
    same.sum().backward()
    print(same is y, y.detach(), x.grad)
