"""The weight is computed first and then asks for a gradient in place; the tensor in the middle is a
leaf of its own.
"""

import microtape as mt


def make_weight(values, scale):
    w = mt.tensor(values) * scale
    return w.requires_grad_()


def gradient_in_the_middle(x):
    hidden = mt.tensor([3 * number.item() for number in x], requires_grad=True)
    (hidden**2).sum().backward()
    return hidden.grad.tolist()


def why_none(tensor):
    if tensor.requires_grad:
        return "not reached" if tensor.is_leaf or tensor.retains_grad else "is not a leaf"
    return "requires no gradient"
