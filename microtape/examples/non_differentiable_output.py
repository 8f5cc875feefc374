import microtape as mt

# A function with two outputs, of which only one has a derivative.
#
# A number is its magnitude times its sign. The magnitude changes smoothly;
# the sign jumps, and a jump has no useful derivative.
# `mark_non_differentiable` says so: `sign` does not require a gradient,
# although x does.
#
# Look at: the two gradients that arrive at MagnitudeAndSign. No gradient
# arrives from `sign`, although it was used; backward receives zeros in its
# place.


class MagnitudeAndSign(mt.autograd.Function):
    """|x| and the sign of x:  ∂|x|/∂x = sign."""

    @staticmethod
    def forward(ctx, x):
        magnitude, sign = x.abs(), x.sign()
        ctx.mark_non_differentiable(sign)
        ctx.save_for_backward(sign)
        return magnitude, sign

    @staticmethod
    def backward(ctx, grad_magnitude, grad_sign):
        (sign,) = ctx.saved_tensors
        return grad_magnitude * sign


x = mt.tensor([-2.0, 0.5, 3.0], requires_grad=True)

magnitude, sign = MagnitudeAndSign.apply(x)
root = magnitude.sqrt() * sign
total = root.sum()

total.backward()

print("sign requires a gradient:", sign.requires_grad)
print("x.grad =", [round(number, 4) for number in x.grad.tolist()])
