"""You add the derivative to the gradient that arrived. An operation that doubles, after an operation that
triples, makes six times as much, not five: derivatives along a chain multiply."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient + 1, gradient + 1]
    if operation == "mul":
        x, y = operands
        return [gradient + y, gradient + x]
    (x,) = operands
    if operation == "square":
        return [gradient + 2 * x]
    return [gradient + z]
