"""It first finds all dimensions to sum over; then a single sum is enough."""

import numpy as np


def unbroadcast(gradient, shape):
    added = gradient.ndim - len(shape)
    lined_up = (1,) * added + tuple(shape)
    axes = tuple(i for i, size in enumerate(lined_up) if size == 1)
    return gradient.sum(axis=axes, keepdims=True).reshape(shape)
