import microtape as mt


class Scale(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors  # noqa: RUF059
        wide = g * ctx.factor
        both = wide.reshape(2, 2)
        return both, None


x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = Scale.apply(x, 3.0)
y.sum().backward()
