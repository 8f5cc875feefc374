# The backward of a matrix product: one way to write it.
#
# Two products, and a sum over everything that was used more than once. The
# product itself sums over the rows of a matrix; the sum over the matrices of
# a stack is written out.

import numpy as np


def backward(gradient, a, b):
    for_a = gradient @ b.T
    for_b = np.swapaxes(a, -1, -2) @ gradient
    if a.ndim == 3:
        for_b = for_b.sum(axis=0)
    return for_a, for_b


if __name__ == "__main__":
    a = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 4.0]])
    b = np.array([[5.0], [6.0], [2.0]])
    for_a, for_b = backward(np.array([[1.0], [10.0]]), a, b)
    print(for_a)
    print(for_b)
