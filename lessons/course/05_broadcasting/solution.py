# The backward of broadcasting: one way to write it.
#
# First the dimensions that were added, then those that were repeated.

import numpy as np


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


if __name__ == "__main__":
    gradient = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    print(unbroadcast(gradient, (3,)))
    print(unbroadcast(gradient, (2, 1)))
    print(unbroadcast(gradient, (2, 3)))
