import microtape as mt


class Square(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


w = mt.tensor([1.0, 2.0], requires_grad=True)
signal = w * 3
power = Square.apply(signal)
signal.mul_(0.5)
power.sum().backward()
print(w.grad)
