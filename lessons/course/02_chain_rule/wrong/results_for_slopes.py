"""Your `slope` returns the result itself. Only for eˣ are the two the same."""

import math


def slope(operation, x, z):
    if operation == "double":
        return z
    if operation == "square":
        return z
    if operation == "sin":
        return z
    return z


def backward(rows, values):
    gradients = {rows[-1][0]: 1.0}
    for result, operation, operand in reversed(rows):
        own = slope(operation, values[operand], values[result])
        gradients[operand] = gradients[result] * own
    return gradients
