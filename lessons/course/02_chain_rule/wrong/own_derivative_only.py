"""Your rows send their own derivatives alone. The gradient that a row received is lost: multiply by it."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [1.0, 1.0]
    if operation == "mul":
        x, y = operands
        return [y, x]
    (x,) = operands
    if operation == "square":
        return [2 * x]
    return [z]
