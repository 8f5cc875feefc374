import microtape as mt


class Refract(mt.autograd.Function):
    @staticmethod
    def forward(ctx, height, angle, power, shift):
        ctx.save_for_backward(height - shift, power)
        return angle - power * (height - shift)

    @staticmethod
    def backward(ctx, grad):
        above, power = ctx.saved_tensors
        return -grad * power, grad, -(grad * above).sum(), None


height, angle = mt.tensor([-1.0, 0.0, 1.0]), mt.tensor([0.1, 0.0, -0.2])
power = mt.tensor(0.5, requires_grad=True)
shift = mt.tensor(0.1, requires_grad=True)

for step in range(3):
    bent = Refract.apply(height, angle, power, shift)
    loss = (height + 2.0 * bent).square().sum()
    loss.backward()
    for one in (power, shift):
        one.data -= 0.05 * one.grad
        one.grad = None
