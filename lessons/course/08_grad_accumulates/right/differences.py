"""`w.grad` is cleared once. The gradient of each loss is the difference between `w.grad` after and
before.
"""

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
