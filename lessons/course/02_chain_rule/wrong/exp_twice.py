"""The derivative of eˣ is eˣ, which is the result z. You raise e to the power of z once more."""

import math


def slope(operation, x, z):
    if operation == "double":
        return 2.0
    if operation == "square":
        return 2 * x
    if operation == "sin":
        return math.cos(x)
    return math.exp(z)


def backward(rows, values):
    gradients = {rows[-1][0]: 1.0}
    for result, operation, operand in reversed(rows):
        own = slope(operation, values[operand], values[result])
        gradients[operand] = gradients[result] * own
    return gradients
