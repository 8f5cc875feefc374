import microtape as mt

# A recurrent network reads a wave for 20 steps and predicts the next value.
#
# Look at: W_state. It is one tensor, used at every step, so its gradient is
# a sum of 20 terms, the latest step first. And watch the gradient of
# `states` as backward goes through time: it shrinks at every step, so the
# network learns hardly anything from what it read at the beginning. This is
# the vanishing gradient.

import math

STEPS, SIZE = 20, 4

wave = [mt.tensor([[math.sin(0.5 * time)]]) for time in range(1, STEPS + 2)]


def weights(rows, columns):
    """Numbers between -0.5 and 0.5 without a pattern, the same on every run."""
    wild = [math.sin(77.0 * k * k) / 2 for k in range(1, rows * columns + 1)]
    return mt.tensor(wild).reshape(rows, columns).requires_grad_()


W_input = weights(1, SIZE)
W_state = weights(SIZE, SIZE)
b = mt.zeros(SIZE, requires_grad=True)
W_output = weights(SIZE, 1)

states = [mt.zeros(1, SIZE)]
for time in range(STEPS):
    state = (wave[time] @ W_input + states[time] @ W_state + b).tanh()
    states.append(state)

guess = states[STEPS] @ W_output
loss = ((guess - wave[STEPS]) ** 2).sum()

loss.backward()

print(f"guess {guess.item():.4f}, wave {wave[STEPS].item():.4f}")
print(f"largest gradient of W_state: {W_state.grad.abs().max().item():.4f}")
