"""The derivative of x² is not 2 but 2·x: the larger x is, the faster its square grows."""

import math


def slope(operation, x, z):
    if operation == "double":
        return 2.0
    if operation == "square":
        return 2.0
    if operation == "sin":
        return math.cos(x)
    return z


def backward(rows, values):
    gradients = {rows[-1][0]: 1.0}
    for result, operation, operand in reversed(rows):
        own = slope(operation, values[operand], values[result])
        gradients[operand] = gradients[result] * own
    return gradients
