# Going back where numbers are used more than once.
#
# `rows` is a tape: (result, operation, x, y), in the order in which
# they ran. `values` has the number of every name.
#
#     rows = [("u", "mul", "x", "y"), ("z", "add", "u", "x")]
#     values = {"x": 3.0, "y": 2.0, "u": 6.0, "z": 9.0}
#
#     backward(rows, values)
#     {"z": 1.0, "u": 1.0, "x": 3.0, "y": 3.0}
#
# A row may have a result that the last one does not depend on. No
# gradient comes to it, and it passes none on.
#
# Complete the loop.


def slopes(operation, x, y):
    """The slopes of x · y or x + y with respect to x and to y."""
    return (y, x) if operation == "mul" else (1.0, 1.0)


def backward(rows, values):
    """The gradient of the last result by every name."""
    last = rows[-1][0]
    gradients = {last: 1.0}
    for result, operation, x, y in reversed(rows):
        # What `result` was handed goes to x and to y.
        raise NotImplementedError
    return gradients


if __name__ == "__main__":
    rows = [("u", "mul", "x", "y"), ("z", "add", "u", "x")]
    values = {"x": 3.0, "y": 2.0, "u": 6.0, "z": 9.0}
    print(backward(rows, values))
