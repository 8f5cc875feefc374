"""You keep the first gradient that arrives and drop the others. Every use of a number counts: add."""


def slopes(operation, x, y):
    """The local derivatives of x · y or x + y: for x, for y."""
    return (y, x) if operation == "mul" else (1.0, 1.0)


def backward(rows, values):
    last = rows[-1][0]
    gradients = {last: 1.0}
    for result, operation, x, y in reversed(rows):
        if result not in gradients:
            continue
        for_x, for_y = slopes(operation, values[x], values[y])
        gradients.setdefault(x, gradients[result] * for_x)
        gradients.setdefault(y, gradients[result] * for_y)
    return gradients
