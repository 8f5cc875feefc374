import microtape as mt


class Reciprocal(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.reciprocal_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return -grad_z * z * z


x = mt.tensor([1.0, 4.0], requires_grad=True)

y = x * 2
Reciprocal.apply(y)

loss = (y * 8).sum()

loss.backward()

print("y      =", y.tolist())
print("x.grad =", x.grad.tolist())
