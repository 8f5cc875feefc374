"""You have cut the path to the guess. It is the target that should get nothing."""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    gap = guess.detach() - target
    return gap * gap
