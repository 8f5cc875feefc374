import microtape as mt


class Power(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(x)
        ctx.p = p
        return x**p

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        p = ctx.p
        return grad_z * p * x ** (p - 1)


radius = mt.tensor([0.5, 1.0, 2.0], requires_grad=True)
volume = 4.0 / 3.0 * 3.14159 * Power.apply(radius, 3)
loss = (volume - mt.tensor([1.0, 4.0, 30.0])).square().mean()
loss.backward()
print(radius.grad)
