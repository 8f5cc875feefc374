import microtape as mt


class Clip(mt.autograd.Function):
    formula = "z = x within [-1, 1]    ∂z/∂x = inside"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward((x.abs() < 1).float())
        return x.clamp(-1.0, 1.0)

    @staticmethod
    def backward(ctx, grad_z):
        (inside,) = ctx.saved_tensors
        return grad_z * inside


def halve(gradient):
    return gradient / 2


x = mt.tensor([0.5, -2.0, 0.9], requires_grad=True)
y = Clip.apply(x)
y.register_hook(halve)
(y * y).sum().backward()
