"""You cut the path to the guess. The target is the one that should get no gradient."""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    gap = guess.detach() - target
    return gap * gap
