"""Your `exp` multiplies by its operand x. The derivative of eˣ is eˣ, and that is the result z."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * x]
