"""`detach_()`, with an underscore, detaches the very tensor that was passed in, for all other
code too. `detach()` leaves that tensor alone and returns a new one.
"""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target.detach_()
    return gap * gap
