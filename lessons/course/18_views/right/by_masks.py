"""An array of ones and zeros marks the window, and products take the place of the writes."""

import numpy as np


def inside(gradient, index):
    mask = np.zeros(gradient.shape)
    mask[index] = 1.0
    return mask


def multiplied(gradient, index, factor):
    return gradient * (1.0 + (factor - 1.0) * inside(gradient, index))


def replaced(gradient, index, shape):
    mask = inside(gradient, index)
    for_v = (gradient * mask)[index] if shape else (gradient * mask).sum()
    return gradient * (1.0 - mask), for_v
