"""You take the mean of what comes in. Two paths from x to the result move it twice, they do not
share one push: add.
"""


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
        for name, term in ((x, gradients[result] * for_x), (y, gradients[result] * for_y)):
            gradients[name] = (gradients[name] + term) / 2 if name in gradients else term
    return gradients
