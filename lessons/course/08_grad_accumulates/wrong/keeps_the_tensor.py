"""Your list holds the tensor `w.grad` itself, the same one each time, and then you set it to zero with
zero_(). Keep a number: `w.grad.item()`.
"""


def gradient_of_each(w, xs):
    gradients = []
    w.grad = None
    for x in xs:
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad)
        w.grad.zero_()
    w.grad = None
    return gradients


def was_reached(w):
    return w.grad is not None
