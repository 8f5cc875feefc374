"""You sum over everything and repeat the total. Sum only over what was stretched."""

import numpy as np


def unbroadcast(gradient, shape):
    return gradient if gradient.shape == tuple(shape) else np.full(shape, gradient.sum())
