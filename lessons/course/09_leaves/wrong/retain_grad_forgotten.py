"""A result on which retain_grad() was called does keep its gradient, leaf or not. If it has none,
backward has not reached it since.
"""

import microtape as mt


def make_weight(values, scale):
    return mt.tensor([value * scale for value in values], requires_grad=True)


def gradient_in_the_middle(x):
    hidden = x * 3
    hidden.retain_grad()
    loss = (hidden * hidden).sum()
    loss.backward()
    return hidden.grad.tolist()


def why_none(tensor):
    if not tensor.requires_grad:
        return "requires no gradient"
    if not tensor.is_leaf:
        return "is not a leaf"
    return "not reached"
