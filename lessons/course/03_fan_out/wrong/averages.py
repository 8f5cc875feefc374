"""You take the mean of what arrives. Two paths from x to the result do not share one push; each
moves the result in full: add.
"""


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
        for name, term in ((x, gradients[result] * for_x), (y, gradients[result] * for_y)):
            gradients[name] = (gradients[name] + term) / 2 if name in gradients else term
    return gradients
