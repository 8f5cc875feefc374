"""You treat a gradient of zero as no gradient. Zero is an answer: backward reached `w` and found
that `w` makes no difference. Only None says that no backward has reached it.
"""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        w.grad = None
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad.item())
    w.grad = None
    return gradients


def was_reached(w):
    return bool(w.grad)
