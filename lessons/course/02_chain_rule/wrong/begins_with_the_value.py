"""You begin with the value of the last result. A gradient is not a value: the last result moves exactly
as far as itself, whatever it is. Begin with 1.
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
    last = rows[-1][0]
    gradients = {last: values[last]}
    for result, operation, operand in reversed(rows):
        own = slope(operation, values[operand], values[result])
        gradients[operand] = gradients[result] * own
    return gradients
