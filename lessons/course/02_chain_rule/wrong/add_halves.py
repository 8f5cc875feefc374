"""Your `add` shares the gradient between its operands. When either of them moves, the sum moves just as
far: each gets the whole gradient."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient / 2, gradient / 2]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * z]
