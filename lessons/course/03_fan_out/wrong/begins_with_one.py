"""Your sums begin with 1 instead of 0. Before anything has arrived, the sum is 0."""


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
        gradients[x] = gradients.get(x, 1.0) + gradients[result] * for_x
        gradients[y] = gradients.get(y, 1.0) + gradients[result] * for_y
    return gradients
