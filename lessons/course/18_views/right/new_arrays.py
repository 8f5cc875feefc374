"""Both begin with a new array; if v has no axes, the sum goes over all axes at once."""

import numpy as np


def multiplied(gradient, index, factor):
    for_y = 1.0 * gradient
    for_y[index] = gradient[index] * factor
    return for_y


def replaced(gradient, index, shape):
    for_y, window = np.array(gradient), np.array(gradient[index])
    for_y[index] -= window
    return for_y, window.sum() if shape == () else window
