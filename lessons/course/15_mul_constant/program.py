import microtape as mt


class MulConstant(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_z):
        return grad_z * ctx.factor, None


x = mt.tensor([1.0, 3.0], requires_grad=True)

scaled = MulConstant.apply(x, 5.0)
loss = (scaled * scaled).sum()

loss.backward()

print("loss   =", loss.item())
print("x.grad =", x.grad.tolist())
