"""You never clear `w.grad`, so each gradient in your list contains all the ones before it. Set
`w.grad = None` before each backward.
"""


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        loss = (w * x) ** 2
        loss.backward()
        gradients.append(w.grad.item())
    return gradients


def was_reached(w):
    return w.grad is not None
