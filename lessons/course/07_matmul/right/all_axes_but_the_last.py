"""tensordot sums over the axes that it is given: the rows and the stack at once."""

import numpy as np


def backward(gradient, a, b):
    axes = list(range(a.ndim - 1))
    for_a = np.tensordot(gradient, b, axes=(-1, 1))
    for_b = np.tensordot(a, gradient, axes=(axes, axes))
    return for_a, for_b
