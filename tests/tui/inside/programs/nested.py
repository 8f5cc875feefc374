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


class Outer(mt.autograd.Function):
    @staticmethod
    def forward(x, scale):
        y = Square.apply(x)
        return y * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, scale = inputs
        ctx.scale = scale
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mt.enable_grad():
            inner = x.detach().requires_grad_()
            y = Square.apply(inner)
            y.sum().backward()
        return inner.grad * g * ctx.scale, None


def halve(g):
    return g * 0.5


def watch(inputs, outputs):
    a = inputs[0] * 1  # noqa: F841
    return


def post(p):
    p.grad.mul_(2.0)


x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
w = mt.tensor([1.0, 1.0, 2.0], requires_grad=True)
w.register_post_accumulate_grad_hook(post)
y = Outer.apply(x * w, 3.0)
y.register_hook(halve)
y.grad_fn.register_hook(watch)
y.grad_fn.register_prehook(lambda g: (g[0] + 1,))
y.sum().backward()
print(x.grad)
