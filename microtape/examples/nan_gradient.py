import microtape as mt

# Where does the NaN come from? The distance between two points that are the
# same.
#
# The distance itself is fine: it is 0. But the slope of the square root at
# 0 is infinite, and infinity times 0 is not a number. From there on every
# gradient is NaN, though nothing in the forward pass was.
#
# Look at: the step of `sqrt`, which makes an Inf, and the step after it,
# which makes NaN of it. The way out: a tiny number under the root,
# (difference ** 2).sum() + 1e-12.

here = mt.tensor([1.0, 2.0], requires_grad=True)
there = mt.tensor([1.0, 2.0], requires_grad=True)

difference = here - there
square = (difference**2).sum()
distance = square.sqrt()

distance.backward()

print("distance  =", distance.item())
print("here.grad =", here.grad.tolist())
