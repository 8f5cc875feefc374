"""The jar is emptied once. What each loss has added is the difference between before and after."""

import microtape as mt


def gradient_of_each(w, xs):
    w.grad = None
    gradients, before = [], 0.0
    for x in xs:
        (w * x * (w * x)).backward()
        after = w.grad.item()
        gradients.append(after - before)
        before = after
    w.grad = None
    return gradients


def was_reached(w):
    return isinstance(w.grad, mt.Tensor)
