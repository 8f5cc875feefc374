"""You call retain_grad() after backward. By then the gradient has passed through `hidden` and is
gone: call it before backward.
"""

import microtape as mt


def make_weight(values, scale):
    return mt.tensor([value * scale for value in values], requires_grad=True)


def gradient_in_the_middle(x):
    hidden = x * 3
    loss = (hidden * hidden).sum()
    loss.backward()
    hidden.retain_grad()
    return None if hidden.grad is None else hidden.grad.tolist()


def why_none(tensor):
    if not tensor.requires_grad:
        return "requires no gradient"
    if not tensor.is_leaf and not tensor.retains_grad:
        return "is not a leaf"
    return "not reached"
