# Arguments that are not tensors: one way to write it.
#
# backward returns the gradients in the order of forward's arguments, with None
# for a number or an index.

import microtape as mt


class Power(mt.autograd.Function):
    @staticmethod
    def forward(ctx, n, x):
        ctx.n = n
        ctx.save_for_backward(x)
        return x**n

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return None, grad_z * ctx.n * x ** (ctx.n - 1)


class Pick(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, index):
        ctx.shape = x.shape
        ctx.index = index
        return x[index]

    @staticmethod
    def backward(ctx, grad_z):
        grad_x = mt.zeros(ctx.shape)
        grad_x[ctx.index] = grad_z
        return grad_x, None


if __name__ == "__main__":
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    Power.apply(3, x).sum().backward()
    print(x.grad)

    x.grad = None
    (Pick.apply(x, 2) * 10).backward()
    print(x.grad)
