"""You compute each derivative at the result of its row. The derivative of x² is 2·x, where x is the
operand: pass `values[operand]` to `slope` first.
"""

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
        own = slope(operation, values[result], values[result])
        gradients[operand] = gradients[result] * own
    return gradients
