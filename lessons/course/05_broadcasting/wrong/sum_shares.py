"""Your `sum` shares its gradient among the elements. When one of them moves, the sum moves just as far: each
gets the whole gradient.
"""


def send(operation, gradient, z, *operands):
    """The gradients for the operands of a row with the result z."""
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    if operation == "square":
        (x,) = operands
        return [gradient * 2 * x]
    if operation == "exp":
        return [gradient * z]
    if operation == "sum":
        (x,) = operands
        return [gradient * np.ones_like(x) / x.size]
