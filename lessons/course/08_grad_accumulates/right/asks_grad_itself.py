"""Each loss has a leaf and a backward of its own, so `w.grad` is never in the way."""

import microtape as mt


def gradient_of_each(w, xs):
    def one(x):
        own = mt.tensor(w.item(), requires_grad=True)
        ((own * x) ** 2).backward()
        return own.grad.item()

    w.grad = None
    return [one(x) for x in xs]


def was_reached(w):
    return w.grad is not None
