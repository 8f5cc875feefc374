"""Your weight is the result of a multiplication, so it is not a leaf: the leaf is the tensor before
the multiplication, which no name refers to. Scale the plain numbers and make the tensor last.
"""

import microtape as mt


def make_weight(values, scale):
    return mt.tensor(values, requires_grad=True) * scale


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
