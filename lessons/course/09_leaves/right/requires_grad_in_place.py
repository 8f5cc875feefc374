"""The weight is computed first and then asks for a gradient in place; a backward from the middle goes on to x."""

import microtape as mt


def make_weight(values, scale):
    w = mt.tensor(values) * scale
    return w.requires_grad_()


def gradient_in_the_middle(x):
    hidden = x + x + x
    hidden.retain_grad()
    mt.autograd.backward((hidden**2).sum())
    return hidden.grad.tolist()


def why_none(tensor):
    if tensor.requires_grad:
        return "not reached" if tensor.is_leaf or tensor.retains_grad else "is not a leaf"
    return "requires no gradient"
