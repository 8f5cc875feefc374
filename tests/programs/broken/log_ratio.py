import microtape as mt


class LogRatio(mt.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a / b).log()

    @staticmethod
    def backward(ctx, grad_z):
        a, b = ctx.saved_tensors
        return float(grad_z) / float(a), -float(grad_z) / float(b)


sugar = mt.tensor(2.0, requires_grad=True)
water = mt.tensor(5.0, requires_grad=True)
sweetness = LogRatio.apply(sugar, water)
loss = (sweetness + 1.2) ** 2
loss.backward()
with mt.no_grad():
    sugar -= 0.1 * sugar.grad
    water -= 0.1 * water.grad
