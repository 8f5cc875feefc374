"""`no_grad` in both places: the target is copied while nothing is recorded."""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w.sub_(w.grad * rate)


def loss_for(guess, target):
    with mt.no_grad():
        fixed = target * 1.0
    return (guess - fixed) ** 2
