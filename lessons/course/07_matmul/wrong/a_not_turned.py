"""You multiply by `a` as it is. Turn it round for the gradient of b. With square matrices the
shapes do not tell.
"""

# The way back through a matrix product: one way to write it.
#
# Two products, and the sum over what was used more than once: the rows of
# the table by the product itself, the tables of a stack by hand.

import numpy as np


def backward(gradient, a, b):
    for_a = gradient @ b.T
    for_b = a @ gradient
    if a.ndim == 3:
        for_b = for_b.sum(axis=0)
    return for_a, for_b
