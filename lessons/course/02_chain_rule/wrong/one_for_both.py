"""A row with two operands sends two gradients, one to each. Your `send` gives only one."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * x * y]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * z]
