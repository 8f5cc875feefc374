import microtape as mt


class Square(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def pack(t):
    return t * 2


def unpack(t):
    return t / 2


x = mt.tensor([1.0, 2.0], requires_grad=True)
with mt.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = Square.apply(x * 1)
y.sum().backward()
