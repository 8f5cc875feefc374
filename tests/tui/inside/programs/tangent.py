import microtape as mt
import microtape.autograd.forward_ad as fw


class Twice(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.factor = 2.0
        return x * 2.0

    @staticmethod
    def jvp(ctx, t):
        return t * ctx.factor

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor


x = mt.tensor([1.0, 2.0], requires_grad=True)
with fw.dual_level():
    dual = fw.make_dual(x, mt.tensor([1.0, 0.0]))
    y = Twice.apply(dual)
    y.sum().backward()
