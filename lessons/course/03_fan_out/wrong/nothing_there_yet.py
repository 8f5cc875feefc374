"""You add to what is there, but when the first gradient arrives at a name, nothing is there yet.
`gradients.get(x, 0.0)` is what has arrived so far, and 0.0 if nothing has.
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
        gradients[x] += gradients[result] * for_x
        gradients[y] += gradients[result] * for_y
    return gradients
