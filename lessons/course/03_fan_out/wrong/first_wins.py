"""You keep the first gradient that comes and drop the others. Every use of a number counts: add."""


def slopes(operation, x, y):
    """The slopes of x · y or x + y with respect to x and to y."""
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
