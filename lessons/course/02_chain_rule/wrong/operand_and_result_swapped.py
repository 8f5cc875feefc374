"""You pass the result to `slope` in place of the operand, and the operand in place of the result. The
parameter `x` is the operand's number, `values[operand]`; `z` is the result's.
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
        own = slope(operation, values[result], values[operand])
        gradients[operand] = gradients[result] * own
    return gradients
