"""The two gradients of your `mul` are swapped. The derivative of x · y with respect to x is y, the *other*
operand."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * x, gradient * y]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * z]
