"""The derivative of x² is 2·x. Your `square` multiplies by x, without the 2: x² is x · x, and both factors
grow.
"""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * x]
    return [gradient * z]
