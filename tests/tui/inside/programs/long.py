import microtape as mt


class Slow(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        for _ in range(400):
            g = g * 1
        return g


x = mt.tensor([1.0], requires_grad=True)
Slow.apply(x).sum().backward()
