"""The derivatives are in a dict of functions, and the loop counts the rows down by index."""

import math

SLOPES = {
    "double": lambda x, z: 2.0,
    "square": lambda x, z: x + x,
    "sin": lambda x, z: math.cos(x),
    "exp": lambda x, z: math.exp(x),
}


def slope(operation, x, z):
    return SLOPES[operation](x, z)


def backward(rows, values):
    gradients = {rows[-1][0]: 1.0}
    number = len(rows) - 1
    while number >= 0:
        result, operation, operand = rows[number]
        gradients[operand] = slope(operation, values[operand], values[result]) * gradients[result]
        number -= 1
    return gradients
