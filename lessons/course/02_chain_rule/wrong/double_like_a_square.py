"""Your derivative of 2·x is 2·x. That is the result itself: when x moves, 2·x moves twice as far,
however large x is. The derivative is 2.
"""

import math


def slope(operation, x, z):
    if operation == "double":
        return 2 * x
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
