import microtape as mt


class Cube(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        square = x * x
        slope = 2 * square
        return slope * g


x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = Cube.apply(x)
y.sum().backward()
