# Backward along a chain.
#
# `rows` is a tape: (result, operation, operand), in the order in
# which they ran. The result of each row is the operand of the next
# one. `values` holds the number of every name.
#
#     rows = [("u", "double", "x"), ("z", "square", "u")]
#     values = {"x": 3.0, "u": 6.0, "z": 36.0}
#
#     backward(rows, values)    {"z": 1.0, "u": 12.0, "x": 24.0}
#
# Complete both functions.

import math


def slope(operation, x, z):
    """The local derivative of the result z with respect to x.

    double  z = 2 · x
    square  z = x²
    sin     z = sin x
    exp     z = eˣ
    """
    raise NotImplementedError


def backward(rows, values):
    """The gradients of the last result, by name."""
    raise NotImplementedError


if __name__ == "__main__":
    rows = [("u", "double", "x"), ("z", "square", "u")]
    values = {"x": 3.0, "u": 6.0, "z": 36.0}
    print(backward(rows, values))
