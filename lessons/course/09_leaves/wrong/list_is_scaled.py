"""`values` is a Python list, and a list times a number does not scale its numbers. Multiply each
number: `[value * scale for value in values]`.
"""

import microtape as mt


def make_weight(values, scale):
    return mt.tensor(values * scale, requires_grad=True)


def gradient_in_the_middle(x):
    hidden = x * 3
    hidden.retain_grad()
    loss = (hidden * hidden).sum()
    loss.backward()
    return hidden.grad.tolist()


def why_none(tensor):
    if not tensor.requires_grad:
        return "requires no gradient"
    if not tensor.is_leaf and not tensor.retains_grad:
        return "is not a leaf"
    return "not reached"
