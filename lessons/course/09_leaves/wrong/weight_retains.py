"""retain_grad() makes `.grad` appear, but your weight is still the result of a multiplication and
not a leaf. Scale the plain numbers and make the tensor last.
"""

import microtape as mt


def make_weight(values, scale):
    w = mt.tensor(values, requires_grad=True) * scale
    w.retain_grad()
    return w


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
