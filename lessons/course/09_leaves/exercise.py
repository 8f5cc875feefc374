# Leaves.
#
# `make_weight` returns a tensor of `values`, each times `scale`. It
# is a leaf and requires a gradient.
#
# `gradient_in_the_middle` computes hidden = 3·x and loss = Σ
# hidden², calls backward on the loss, and returns the gradient of
# `hidden` as a list of numbers. `x` gets its gradient, too.
#
# `why_none` takes a tensor whose `.grad` is None and returns the
# first of these reasons that applies:
#
#     "requires no gradient"
#     "is not a leaf"        nor was retain_grad called
#     "not reached"          no backward has reached it since
#
# Complete all three.

import microtape as mt


def make_weight(values, scale):
    raise NotImplementedError


def gradient_in_the_middle(x):
    raise NotImplementedError


def why_none(tensor):
    raise NotImplementedError


if __name__ == "__main__":
    w = make_weight([1.0, 2.0], 0.1)
    print(w, w.is_leaf)
    print(gradient_in_the_middle(w))
    print(why_none(w * 2))
