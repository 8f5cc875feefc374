# Backward along a chain: one way to write it.
#
# Each row is visited once, from the last to the first, and does the same
# small thing: it multiplies what it receives by its local derivative and
# passes the product on to its operand.

import math


def slope(operation, x, z):
    if operation == "double":
        return 2.0
    if operation == "square":
        return 2 * x
    if operation == "sin":
        return math.cos(x)
    return z


def backward(rows, values):
    gradients = {rows[-1][0]: 1.0}
    for result, operation, operand in reversed(rows):
        own = slope(operation, values[operand], values[result])
        gradients[operand] = gradients[result] * own
    return gradients


if __name__ == "__main__":
    rows = [("u", "double", "x"), ("z", "square", "u")]
    values = {"x": 3.0, "u": 6.0, "z": 36.0}
    print(backward(rows, values))
