# Gradients one by one.
#
# `w` is a leaf that requires a gradient: a single number. For each
# x in `xs` there is a loss, (w · x)².
#
#     w = mt.tensor(2.0, requires_grad=True)
#
#     gradient_of_each(w, [1.0, 3.0])    [4.0, 36.0]
#     w.grad                             None
#
# `gradient_of_each` returns the gradient of each loss by itself, as
# a list of plain numbers. What was in `w.grad` before must not
# count, and `w.grad` must be None afterwards.
#
# `was_reached` says whether a backward has reached `w` since its
# `.grad` was last None, whatever the gradient was.
#
# Complete both.

import microtape as mt


def gradient_of_each(w, xs):
    gradients = []
    for x in xs:
        loss = (w * x) ** 2
        raise NotImplementedError
    return gradients


def was_reached(w):
    raise NotImplementedError


if __name__ == "__main__":
    w = mt.tensor(2.0, requires_grad=True)
    print(gradient_of_each(w, [1.0, 3.0]))
    print(w.grad, was_reached(w))
