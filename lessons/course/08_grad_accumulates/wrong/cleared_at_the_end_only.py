"""You clear `w.grad` only once, at the end. Until then the gradients add up: each one in your list
contains the ones before it.
"""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad.item())
    w.grad = None
    return gradients


def was_reached(w):
    return w.grad is not None
