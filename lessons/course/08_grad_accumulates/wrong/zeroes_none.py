"""Before the first backward `w.grad` is None, and None has no `zero_()`. Write `w.grad =
None`, which always works.
"""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        w.grad.zero_()
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad.item())
    w.grad = None
    return gradients


def was_reached(w):
    return w.grad is not None
