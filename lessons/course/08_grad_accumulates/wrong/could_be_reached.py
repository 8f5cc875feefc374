"""`requires_grad` says that `w` asks for a gradient, not that it has one. Look at `w.grad`."""


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
    return w.requires_grad
