"""You have it the other way round: as long as `w.grad` is None, no backward has reached `w`."""


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
    return w.grad is None
