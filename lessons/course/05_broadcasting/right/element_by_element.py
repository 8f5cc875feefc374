"""Each number of the gradient is added, one by one, to the place that its copy came from."""

import numpy as np


def unbroadcast(gradient, shape):
    result = np.zeros(shape, gradient.dtype)
    for index, number in np.ndenumerate(gradient):
        own = index[len(index) - len(shape) :]
        own = tuple(0 if size == 1 else i for i, size in zip(own, shape, strict=True))
        result[own] += number
    return result
