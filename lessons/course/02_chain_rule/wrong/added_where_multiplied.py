"""You add the gradient that arrived to the derivative. An operation that doubles, after one that triples,
makes six times as much, not five: multiply.
"""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient + y, gradient + x]
    (x,) = operands
    if operation == "square":
        return [gradient + 2 * x]
    return [gradient + z]
