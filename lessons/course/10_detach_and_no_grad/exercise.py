# Off the tape.
#
# `step` makes one step of training: it moves `w` downhill by its
# gradient times `rate`. Afterwards `w` is the same tensor, still a
# leaf that requires a gradient, and `w.grad` is unchanged.
#
#     w = 3.0, w.grad = 2.0
#     step(w, 0.1)
#     w = 2.8
#
# `loss_for` returns the square of (guess − target). Its gradient
# goes to the guess alone, wherever the target came from.
#
# Complete both.

import microtape as mt


def step(w, rate):
    raise NotImplementedError


def loss_for(guess, target):
    raise NotImplementedError


if __name__ == "__main__":
    w = mt.tensor(3.0, requires_grad=True)
    loss = loss_for(w * 4, w * w)
    loss.backward()
    print(w.grad)
    step(w, 0.1)
    print(w)
