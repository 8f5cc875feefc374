import microtape as mt

# An operation of your own that writes into its input, and says so.
#
# `mark_dirty` tells autograd that the input's numbers are no longer what
# they were. The tensor's version goes up, and from then on the tensor *is*
# the output: `values` and `same` are one object with a new grad_fn.
#
# Look at: the version of `values` before and after, and which of the two
# the Function saved. The old numbers are gone, and backward does not need
# them: eˣ is its own derivative.


class ExpInPlace(mt.autograd.Function):
    """z = eˣ, written over x. As ∂z/∂x = z, backward needs only the result."""

    @staticmethod
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return grad_z * z


x = mt.tensor([0.0, 1.0, 2.0], requires_grad=True)

values = x * 0.5  # a leaf that requires a gradient must not be overwritten
same = ExpInPlace.apply(values)
total = same.sum()

total.backward()

print("values and same are one tensor:", same is values)
print("x.grad =", [round(number, 4) for number in x.grad.tolist()])
