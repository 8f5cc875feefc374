"""You add to what is there, and for the first gradient that comes to a name nothing is there yet.
`gradients.get(x, 0.0)` is what has come so far, and 0.0 if nothing has.
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
        gradients[x] += gradients[result] * for_x
        gradients[y] += gradients[result] * for_y
    return gradients
