"""Your `send` gives `g @ y.T` and `x.T @ g` without the transposes. The shapes still fit if the matrices are
square, but the numbers are wrong.
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
        return [gradient * np.ones_like(x)]
    if operation == "matmul":
        x, y = operands
        return [gradient @ y, x @ gradient]
    if operation == "tanh":
        return [gradient * (1 - z * z)]
