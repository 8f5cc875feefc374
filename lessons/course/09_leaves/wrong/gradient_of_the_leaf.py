"""That is the gradient of `x`, where backward ends. Return the gradient of `hidden`, one step
earlier.
"""

import microtape as mt


def make_weight(values, scale):
    return mt.tensor([value * scale for value in values], requires_grad=True)


def gradient_in_the_middle(x):
    hidden = x * 3
    loss = (hidden * hidden).sum()
    loss.backward()
    return x.grad.tolist()


def why_none(tensor):
    if not tensor.requires_grad:
        return "requires no gradient"
    if not tensor.is_leaf and not tensor.retains_grad:
        return "is not a leaf"
    return "not reached"
