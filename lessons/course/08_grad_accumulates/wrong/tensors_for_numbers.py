"""The gradients are right, but they are tensors and not plain numbers: use `w.grad.item()`."""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        w.grad = None
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad)
    w.grad = None
    return gradients


def was_reached(w):
    return w.grad is not None
