"""`a.T` transposes the whole stack, its first axis too. Swap only the last two axes."""

# The backward of a matrix product: one way to write it.
#
# Two products, and a sum over everything that was used more than once. The
# product itself sums over the rows of a matrix; the sum over the matrices of a
# stack is written out.

import numpy as np


def backward(gradient, a, b):
    for_a = gradient @ b.T
    for_b = a.T @ gradient
    if a.ndim == 3:
        for_b = for_b.sum(axis=0)
    return for_a, for_b
