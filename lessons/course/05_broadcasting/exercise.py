# Tables of numbers.
#
# This is your file from lesson 4. A number may now be an array.
# `add` and `mul` stretch arrays as numpy does, and there is a new
# operation, `sum`, which adds up all elements.
#
# Write `unbroadcast`. An operand of shape `shape` was stretched to
# the shape of `gradient`. Return the gradient of the operand: it
# has shape `shape`, and is summed over everything that was
# stretched.
#
#     gradient = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
#
#     unbroadcast(gradient, (3,))      [5. 7. 9.]
#     unbroadcast(gradient, (2, 1))    [[6.], [15.]]
#     unbroadcast(gradient, (2, 3))    as it is
#
# Shapes are aligned at their right ends. `gradient` has at least as
# many dimensions as `shape`.
#
# Then let `backward` call it on every term that it delivers, with
# the operand's shape, and let `send` know `sum`: every element of x
# gets the gradient of the sum.

import numpy as np


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.append((result, "add", x, y))

    def square(self, result, x):
        self.values[result] = self.values[x] ** 2
        self.rows.append((result, "square", x))

    def exp(self, result, x):
        self.values[result] = np.exp(self.values[x])
        self.rows.append((result, "exp", x))

    def backward(self, last):
        """The gradients of `last`, by name."""
        gradients = {last: 1.0}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients

    def sum(self, result, x):
        self.values[result] = self.values[x].sum()
        self.rows.append((result, "sum", x))


def send(operation, gradient, z, *operands):
    """The gradients for the operands of a row with the result z."""
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    if operation == "square":
        (x,) = operands
        return [gradient * 2 * x]
    if operation == "exp":
        return [gradient * z]


def order(rows, last):
    """The rows that backward visits, the first one first."""
    visited = []
    needed = {last}
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row)
            needed.update(row[2:])
    return visited


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    raise NotImplementedError


if __name__ == "__main__":
    gradient = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    print(unbroadcast(gradient, (3,)))
    print(unbroadcast(gradient, (2, 1)))
    tape = Tape()
    tape.number("table", gradient)
    tape.number("row", np.array([10.0, 20.0, 30.0]))
    tape.add("all", "table", "row")
    tape.sum("total", "all")
    print(tape.backward("total")["row"])
