"""You leave a zero in `w.grad`. It adds nothing, but it says that a backward has been here. Leave
None.
"""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        w.grad = None
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad.item())
    w.grad.zero_()
    return gradients


def was_reached(w):
    return w.grad is not None
