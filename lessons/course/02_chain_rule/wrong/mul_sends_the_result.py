"""Your `mul` sends the result to both operands. The derivative of x · y with respect to x is y."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * z, gradient * z]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * z]
