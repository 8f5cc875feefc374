# Backward through a window.
#
# The program wrote into y[index]. `gradient` is the gradient of the
# whole of y after the write.
#
#     gradient = np.array([1.0, 10.0, 100.0])
#     rest = slice(1, None)              y[rest] is y[1:]
#
# `multiplied` is the backward of  y[index] *= factor.  It returns
# the gradient of y before the write:
#
#     multiplied(gradient, rest, 5.0)    [1, 50, 500]
#
# `replaced` is the backward of  y[index] = v.  It returns the
# gradient of y before the write and the gradient of v. `shape` is
# the shape of v: that of the window, or () if v is a single number.
#
#     replaced(gradient, rest, (2,))     [1, 0, 0], [10, 100]
#     replaced(gradient, rest, ())       [1, 0, 0], 110
#
# `gradient` itself must not change, not even by a write into what
# you return: other code may hold it.
#
# Complete both.

import numpy as np


def multiplied(gradient, index, factor):
    raise NotImplementedError


def replaced(gradient, index, shape):
    raise NotImplementedError


if __name__ == "__main__":
    gradient = np.array([1.0, 10.0, 100.0])
    print(multiplied(gradient, slice(1, None), 5.0))
    print(*replaced(gradient, slice(1, None), (2,)))
    print(*replaced(gradient, slice(1, None), ()))
