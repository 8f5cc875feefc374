"""The weight is a Parameter, which is a leaf that requires a gradient."""

import microtape as mt


def make_weight(values, scale):
    return mt.nn.Parameter(mt.tensor(values) * scale)


def gradient_in_the_middle(x):
    hidden = 3 * x
    hidden.retain_grad()
    mt.sum(hidden**2).backward()
    return hidden.grad.tolist()


def why_none(tensor):
    if not tensor.requires_grad:
        return "requires no gradient"
    return "not reached" if tensor.is_leaf or tensor.retains_grad else "is not a leaf"
