"""Your `why_none` first asks whether the tensor is a leaf. A tensor without requires_grad is a leaf too, so
you answer that backward has not reached it. First ask whether it requires a gradient.
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
    if tensor.is_leaf:
        return "not reached"
    if not tensor.requires_grad:
        return "requires no gradient"
    return "is not a leaf"
