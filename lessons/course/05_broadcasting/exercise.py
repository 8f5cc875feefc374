# The backward of broadcasting.
#
# An operand of shape `shape` was stretched to the shape of
# `gradient`. Return the gradient of the operand: it has shape
# `shape` and is summed over everything that was stretched.
#
#     gradient = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
#
#     unbroadcast(gradient, (3,))      [5. 7. 9.]
#     unbroadcast(gradient, (2, 1))    [[6.], [15.]]
#     unbroadcast(gradient, (2, 3))    as it is
#
# Shapes are aligned at their right ends. `gradient` has at least as
# many dimensions as `shape`.
#
# Complete the function.

import numpy as np


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    raise NotImplementedError


if __name__ == "__main__":
    gradient = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    print(unbroadcast(gradient, (3,)))
    print(unbroadcast(gradient, (2, 1)))
    print(unbroadcast(gradient, (2, 3)))
