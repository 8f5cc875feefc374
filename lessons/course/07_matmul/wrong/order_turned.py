"""Your gradient of b has its factors in the wrong order: a, turned round, comes first."""

# The way back through a matrix product: one way to write it.
#
# Two products, and the sum over what was used more than once: the rows of
# the table by the product itself, the tables of a stack by hand.

import numpy as np


def backward(gradient, a, b):
    for_a = gradient @ b.T
    for_b = gradient @ np.swapaxes(a, -1, -2)
    if a.ndim == 3:
        for_b = for_b.sum(axis=0)
    return for_a, for_b
