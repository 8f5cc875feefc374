"""The last gradient is still in `w.grad` when you return. The next backward will add to it: clear
it once more at the end.
"""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        w.grad = None
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad.item())
    return gradients


def was_reached(w):
    return w.grad is not None
