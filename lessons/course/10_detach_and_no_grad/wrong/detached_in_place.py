"""`detach_()`, with an underscore, cuts the past off the tensor that you were handed, for
everybody. `detach()` leaves it alone and gives you another.
"""

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target.detach_()
    return gap * gap
