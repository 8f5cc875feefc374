"""You sum over the dimensions that were added, but not over those of size 1 that were repeated."""

import numpy as np


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    return gradient
