"""The step is right, but you clear `w.grad`. The caller may want to add more gradients to it:
leave it as it is.
"""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad
    w.grad = None


def loss_for(guess, target):
    gap = guess - target.detach()
    return gap * gap
