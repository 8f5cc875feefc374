import microtape as mt

# The gradient of a gradient: a critic is told to be neither too steep nor
# too flat.
#
# First `grad` asks how steeply the score rises at `point`. With
# create_graph=True this backward pass is itself recorded, node by node, on
# the same tape. Then the penalty, which is made of that slope, is sent
# backward.
#
# Look at: two passes. The first one *adds* rows to the tape while it runs;
# the second one walks back through those rows, and on into the rows of the
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
