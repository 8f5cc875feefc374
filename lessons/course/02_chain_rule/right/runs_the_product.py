"""One number runs along the chain and is multiplied by each derivative in turn."""

import math


def slope(operation, x, z):
    match operation:
        case "double":
            return 2
        case "square":
            return 2.0 * x
        case "sin":
            return math.sin(x + math.pi / 2)
        case "exp":
            return z


def backward(rows, values):
    running = 1.0
    gradients = {}
    for result, operation, operand in rows[::-1]:
        gradients[result] = running
        running *= slope(operation, values[operand], values[result])
    gradients[rows[0][2]] = running
    return gradients
