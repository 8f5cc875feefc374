"""You compute the derivative of x² at the result. It is 2·x, where x is the operand."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * z]
    return [gradient * z]
