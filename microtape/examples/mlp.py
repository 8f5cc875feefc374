import microtape as mt

# A two-layer network learns to classify the arms of a spiral.
#
# Look at: the order. The loss was computed last, so its gradient is known
# first; the weights of the second layer get their gradients before those of
# the first. b1 and b2 were broadcast over all points, so backward sums the
# gradients of all points into them. Only the first backward pass is
# recorded unless you choose another (--pass 200).

import math

ARMS, POINTS, HIDDEN, RATE = 3, 8, 12, 0.5

positions, one_hot = [], []
for arm in range(ARMS):
    for step in range(POINTS):
        radius = (step + 1) / POINTS
        angle = 2 * math.pi * arm / ARMS + 3 * radius
        positions.append([radius * math.cos(angle), radius * math.sin(angle)])
        one_hot.append([float(arm == k) for k in range(ARMS)])
points = mt.tensor(positions)
arms = mt.tensor(one_hot)


def weights(rows, columns):
    """Numbers between -1 and 1 without a pattern, the same on every run."""
    wild = [math.sin(99.0 * k * k) for k in range(1, rows * columns + 1)]
    return mt.tensor(wild).reshape(rows, columns).requires_grad_()


W1 = weights(2, HIDDEN)
b1 = mt.zeros(HIDDEN, requires_grad=True)
W2 = weights(HIDDEN, ARMS)
b2 = mt.zeros(ARMS, requires_grad=True)

for epoch in range(301):
    hidden = (points @ W1 + b1).tanh()
    scores = hidden @ W2 + b2

    # Cross-entropy: minus the log of the probability given to the right arm.
    log_total = scores.exp().sum(1, keepdim=True).log()
    log_probability = scores - log_total
    loss = -(log_probability * arms).sum() / len(positions)

    loss.backward()
    if epoch % 100 == 0:
        print(f"epoch {epoch:3}   loss {loss.item():.4f}")

    with mt.no_grad():
        for parameter in (W1, b1, W2, b2):
            parameter -= RATE * parameter.grad
            parameter.grad = None
