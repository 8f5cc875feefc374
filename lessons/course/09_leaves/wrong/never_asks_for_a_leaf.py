"""Your `why_none` does not ask whether the tensor is a leaf. Backward may well have reached the result of an operation,
which passed the gradient on and kept nothing.
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
    return "not reached"
