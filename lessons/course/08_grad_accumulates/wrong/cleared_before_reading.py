"""You clear `w.grad` after backward and before you read it, so there is nothing to read."""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        loss = (w * x) ** 2
        loss.backward()
        w.grad = None
        gradients.append(w.grad)
    w.grad = None
    return gradients


def was_reached(w):
    return w.grad is not None
