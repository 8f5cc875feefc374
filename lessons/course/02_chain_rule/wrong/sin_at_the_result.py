"""The derivative of sin x is cos x, computed at the operand x. You compute it at the result."""

import math


def slope(operation, x, z):
    if operation == "double":
        return 2.0
    if operation == "square":
        return 2 * x
    if operation == "sin":
        return math.cos(z)
    return z


def backward(rows, values):
    gradients = {rows[-1][0]: 1.0}
    for result, operation, operand in reversed(rows):
        own = slope(operation, values[operand], values[result])
        gradients[operand] = gradients[result] * own
    return gradients
