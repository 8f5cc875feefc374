"""You take the mean. A number that was used twice moves the result twice as much: take the sum."""

import numpy as np


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.mean(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.mean(axis=axis, keepdims=True)
    return gradient
