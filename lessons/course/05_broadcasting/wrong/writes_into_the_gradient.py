"""You write the sum into the gradient that was passed in. Other code may hold the same array: make
a new one.
"""

import numpy as np


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            total = gradient.sum(axis=axis, keepdims=True)
            gradient[...] = total
            gradient = total
    return gradient
