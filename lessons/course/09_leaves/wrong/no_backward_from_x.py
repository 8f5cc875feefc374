"""The numbers are right, but no backward has reached `x`. Compute `hidden` from `x` with tensor operations, and call
backward on the loss.
"""

import microtape as mt


def make_weight(values, scale):
    return mt.tensor([value * scale for value in values], requires_grad=True)


def gradient_in_the_middle(x):
    return [2 * 3 * number for number in x.tolist()]


def why_none(tensor):
    if not tensor.requires_grad:
        return "requires no gradient"
    if not tensor.is_leaf and not tensor.retains_grad:
        return "is not a leaf"
    return "not reached"
