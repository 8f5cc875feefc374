"""Your loss is off the tape, so neither the guess nor the target gets a gradient. Detach the target alone:
`target.detach()`.
"""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    gap = (guess - target).detach()
    return gap * gap
