"""You return the difference. The loss is its square."""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    return guess - target.detach()
