"""You divide the result by one operand to find the other. That fails if an operand is 0, and `send` gets both
operands.
"""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * z / x, gradient * z / y]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * z]
