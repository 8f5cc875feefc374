"""The gradient that arrived is lost in your `add`: it sends 1 to both operands. Both derivatives are 1, so
what arrived goes to both of them as it is.
"""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [1.0, 1.0]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * z]
