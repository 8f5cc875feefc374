"""The target gets a gradient as well. Use `target.detach()`: the same number without a graph behind it."""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target
    return gap * gap
