"""The derivative of x² is not 2 but 2·x: the larger x is, the faster its square grows."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2]
    return [gradient * z]
