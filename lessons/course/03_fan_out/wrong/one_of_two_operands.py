"""When x and y are the same name, only one of the two gradients is left: you compute both sums from
what was there before, and the second replaces the first. Store the first sum before you compute the
second.
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
        new_x = gradients.get(x, 0.0) + gradients[result] * for_x
        new_y = gradients.get(y, 0.0) + gradients[result] * for_y
        gradients[x] = new_x
        gradients[y] = new_y
    return gradients
