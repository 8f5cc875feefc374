import microtape as mt

# The gradient of a gradient: a penalty keeps a critic from being too steep
# or too flat.
#
# First `grad` computes how steeply the score rises at `point`. With
# create_graph=True this backward pass is itself recorded, node by node, on
# the same tape. Then `backward` starts from the penalty, which depends on
# that gradient.
#
# Look at: two passes. The first *adds* rows to the tape while it runs; the
# second visits those rows first, in reverse order, and then the rows of the
# score.

point = mt.tensor([[0.5, -1.0]], requires_grad=True)
W = mt.tensor([[1.0, -0.5, 0.3], [0.8, 0.2, -0.6]], requires_grad=True)
v = mt.tensor([[1.0], [-2.0], [0.5]], requires_grad=True)

score = ((point @ W).tanh() @ v).sum()

(slope,) = mt.autograd.grad(score, point, create_graph=True)

steepness = (slope * slope).sum().sqrt()
penalty = (steepness - 1.0) ** 2

penalty.backward()

print(f"steepness {steepness.item():.4f}   penalty {penalty.item():.4f}")
print("v.grad =", [round(number, 4) for (number,) in v.grad.tolist()])
