import microtape as mt

# A Function that writes into its argument, and marks it dirty.
#
# `mark_dirty` tells autograd that the argument's numbers are no longer what
# they were. From then on the argument *is* the output of this Function. That
# saves memory, if nothing needs the old numbers.
#
# Look at: the version of `hidden`, which rises from 0 to 2 (`mul_` adds 1,
# `mark_dirty` adds 1), and which node saved which version. The matrix product
# saved only its operands. LeakyReLU saved the new numbers: their signs are
# those of the old ones, and its backward needs no more. (If `exp` had made
# `hidden`, backward would fail: see `microtape demo in_place_error`.)


class LeakyReLU(mt.autograd.Function):
    """z = x where x > 0, else slope · x, written over x."""

    @staticmethod
    def forward(ctx, x, slope):
        x.mul_(mt.where(x > 0, 1.0, slope))
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        ctx.slope = slope
        return x

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return grad_z * mt.where(z > 0, 1.0, ctx.slope), None


x = mt.tensor([[1.0, -2.0]])
W = mt.tensor([[0.5, -1.0, 2.0], [1.5, 0.5, -1.0]], requires_grad=True)

hidden = x @ W
active = LeakyReLU.apply(hidden, 0.1)
loss = (active * active).sum()

loss.backward()

print("active and hidden are one tensor:", active is hidden)
print("version:", hidden._version)
print("W.grad =", [[round(one, 4) for one in row] for row in W.grad.tolist()])
