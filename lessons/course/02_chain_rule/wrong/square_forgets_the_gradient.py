"""The gradient that arrived is lost in your `square`: it sends its own derivative alone. Multiply by what
arrived.
"""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [2 * x]
    return [gradient * z]
