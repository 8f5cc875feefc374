"""Your `add` sends what it received, times its operands. The derivative of x + y is 1 for both: each operand
gets the gradient as it is."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient * one for one in operands]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * z]
