"""You clear `w.grad` after each loss, but not before the first. An older gradient in `w.grad` got
into your first one.
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
