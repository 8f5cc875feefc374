# The backward of a matrix product, c = a @ b.
#
# `gradient` is the gradient of c. Return the gradients of a and of
# b, each in the shape of its matrix.
#
#     a = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 4.0]])
#     b = np.array([[5.0], [6.0], [2.0]])
#
#     backward(np.array([[1.0], [10.0]]), a, b)
#         [[5, 6, 2], [50, 60, 20]],  [[31], [12], [40]]
#
# `b` is always a matrix. `a` is a matrix or a stack of matrices. A
# stack has shape (s, n, k): then the gradient has shape (s, n, m),
# and b was used for each matrix of the stack.
#
# Useful: `b.T` transposes a matrix; `np.swapaxes(a, -1, -2)`
# transposes each matrix of a stack.
#
# Complete the function.

import numpy as np


def backward(gradient, a, b):
    """The gradients of a and of b."""
    raise NotImplementedError


if __name__ == "__main__":
    a = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 4.0]])
    b = np.array([[5.0], [6.0], [2.0]])
    for_a, for_b = backward(np.array([[1.0], [10.0]]), a, b)
    print(for_a)
    print(for_b)
