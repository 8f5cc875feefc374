"""You take the root of the result for x. It is x only if x is not below 0: (-3)² is 9, too. `send` gets x
itself.
"""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * np.sqrt(z)]
    return [gradient * z]
