# Backward where numbers are used more than once.
#
# `rows` is a tape: (result, operation, x, y), in the order in which
# they ran. `values` holds the number of every name.
#
#     rows = [("u", "mul", "x", "y"), ("z", "add", "u", "x")]
#     values = {"x": 3.0, "y": 2.0, "u": 6.0, "z": 9.0}
#
#     backward(rows, values)
#     {"z": 1.0, "u": 1.0, "x": 3.0, "y": 3.0}
#
# The last row may not depend on some of the rows. No gradient
# arrives there, and such a row passes none on.
#
# Complete the loop.


def slopes(operation, x, y):
    """The local derivatives of x · y or x + y: for x, for y."""
    return (y, x) if operation == "mul" else (1.0, 1.0)


def backward(rows, values):
    """The gradients of the last result, by name."""
    last = rows[-1][0]
    gradients = {last: 1.0}
    for result, operation, x, y in reversed(rows):
        # The gradient of `result` goes to x and to y.
        raise NotImplementedError
    return gradients


if __name__ == "__main__":
    rows = [("u", "mul", "x", "y"), ("z", "add", "u", "x")]
    values = {"x": 3.0, "y": 2.0, "u": 6.0, "z": 9.0}
    print(backward(rows, values))
