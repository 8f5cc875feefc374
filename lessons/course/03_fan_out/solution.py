# Backward where numbers are used more than once: one way to write it.
#
# `+` is the whole lesson: what arrives is added to what arrived before.


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
        gradients[x] = gradients.get(x, 0.0) + gradients[result] * for_x
        gradients[y] = gradients.get(y, 0.0) + gradients[result] * for_y
    return gradients


if __name__ == "__main__":
    rows = [("u", "mul", "x", "y"), ("z", "add", "u", "x")]
    values = {"x": 3.0, "y": 2.0, "u": 6.0, "z": 9.0}
    print(backward(rows, values))
