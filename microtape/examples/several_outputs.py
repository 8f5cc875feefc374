import microtape as mt

# A Function with two outputs, of which only one has a derivative.
#
# Clip returns its numbers, limited to an interval, and a mask of those that
# were inside. The mask jumps between 0 and 1, and a jump has no useful
# derivative. `mark_non_differentiable` says so: `inside` requires no
# gradient, although x does.
#
# Look at: the two outputs of Clip, and inside of its backward, the mask. No
# gradient arrives from `inside`, although it was used: backward receives
# zeros in its place.


class Clip(mt.autograd.Function):
    """x limited to [low, high], and where it was inside."""

    @staticmethod
    def forward(ctx, x, low, high):
        inside = ((x >= low) & (x <= high)).float()
        ctx.mark_non_differentiable(inside)
        ctx.save_for_backward(inside)
        return x.clamp(low, high), inside

    @staticmethod
    def backward(ctx, grad_clipped, grad_inside):
        (inside,) = ctx.saved_tensors
        return grad_clipped * inside, None, None


x = mt.tensor([2.0, 0.5, -1.0, 0.25], requires_grad=True)

clipped, inside = Clip.apply(x, 0.0, 1.0)
score = (clipped * clipped).sum() / inside.sum()

score.backward()

print("inside requires a gradient:", inside.requires_grad)
print("x.grad =", x.grad.tolist())
