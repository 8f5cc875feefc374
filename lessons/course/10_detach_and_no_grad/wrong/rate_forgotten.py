"""You move by the whole gradient. Multiply it by `rate`."""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= w.grad


def loss_for(guess, target):
    gap = guess - target.detach()
    return gap * gap
