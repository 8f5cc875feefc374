import microtape as mt

# An operation of your own with an argument that is not a tensor.
#
# The constant is kept on `ctx` as an ordinary attribute. Backward returns a
# gradient for each argument of forward. For the constant it returns None:
# a plain number has no gradient.
#
# Look at: the two gradients that MulConstant returns. Only the first is
# sent on.


class MulConstant(mt.autograd.Function):
    """z = x · constant."""

    @staticmethod
    def forward(ctx, x, constant):
        ctx.constant = constant
        return x * constant

    @staticmethod
    def backward(ctx, grad_z):
        return grad_z * ctx.constant, None


x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)

z = MulConstant.apply(x, 5.5)
total = (z * x).sum()

total.backward()

print("x.grad =", x.grad.tolist())  # 2 · 5.5 · x
