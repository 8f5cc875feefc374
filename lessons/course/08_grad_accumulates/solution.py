# Gradients one by one: one way to write it.
#
# `.grad` is cleared before each use, and left at None.

import microtape as mt


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
    return w.grad is not None


if __name__ == "__main__":
    w = mt.tensor(2.0, requires_grad=True)
    print(gradient_of_each(w, [1.0, 3.0]))
    print(w.grad, was_reached(w))
