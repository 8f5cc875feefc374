import microtape as mt

# Where does the NaN come from? The program computes the distance between
# two equal points.
#
# The distance itself is fine: it is 0. But the derivative of the square
# root at 0 is infinite, and infinity times 0 is NaN. From there on every
# gradient is NaN, although no result of the forward pass was.
#
# Look at: the step of `sqrt`, which produces an Inf, and the step after it,
# which turns it into NaN. The way out: a tiny number under the root,
# (difference ** 2).sum() + 1e-12.

here = mt.tensor([1.0, 2.0], requires_grad=True)
there = mt.tensor([1.0, 2.0], requires_grad=True)

difference = here - there
square = (difference**2).sum()
distance = square.sqrt()

distance.backward()

print("distance  =", distance.item())
print("here.grad =", here.grad.tolist())
