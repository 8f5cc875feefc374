"""You begin with the derivative of the last row, and the loop multiplies by it once more. The last result
moves exactly as far as itself: begin with 1.
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
    last, operation, operand = rows[-1]
    gradients = {last: slope(operation, values[operand], values[last])}
    for result, operation, operand in reversed(rows):
        own = slope(operation, values[operand], values[result])
        gradients[operand] = gradients[result] * own
    return gradients
