"""`send` gives a list, even to a single operand: `[gradient * 2 * x]`."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return gradient * 2 * x
    return gradient * z
