"""The weight requires a gradient only after it was computed, and a dict lists the reasons in order."""

import microtape as mt


def make_weight(values, scale):
    w = scale * mt.tensor(values)
    w.requires_grad = True
    return w


def gradient_in_the_middle(x):
    hidden = 3 * x
    hidden.retain_grad()
    (hidden * hidden).sum().backward()
    return [number.item() for number in hidden.grad]


def why_none(tensor):
    reasons = {
        "requires no gradient": not tensor.requires_grad,
        "is not a leaf": tensor.grad_fn is not None and not tensor.retains_grad,
        "not reached": True,
    }
    return next(reason for reason, holds in reasons.items() if holds)
