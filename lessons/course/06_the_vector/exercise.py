# The vector that backward begins with.
#
# This is your file from lesson 5. It always begins with the number
# 1, so `last` has to be a single number.
#
# Let `backward` take one more argument, `weights`: the gradient
# that it begins with, in the shape of `last`.
#
#     tape.mul("z", "x", "x")          at x = [1, 2, 3]
#     tape.backward("z", np.array([1.0, 10.0, 100.0]))["x"]
#                                      [2. 40. 600.]
#
# Without weights it begins with 1, as before, and raises ValueError
# if `last` does not hold exactly one number.
#
# Then write `jacobian`: the table of the derivatives of all numbers
# of `last`, a row for each, with respect to all numbers of `name`.
# Both are arrays of one dimension.
#
#     jacobian(tape, "z", "x")
#         [[2. 0. 0.], [0. 4. 0.], [0. 0. 6.]]

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
                shape = np.shape(self.values[name])
                term = unbroadcast(term, shape)
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
    if operation == "sum":
        (x,) = operands
        return [gradient * np.ones_like(x)]


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
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def jacobian(tape, last, name):
    """The table of derivatives: a row for each number of `last`."""
    raise NotImplementedError


if __name__ == "__main__":
    tape = Tape()
    tape.number("x", np.array([1.0, 2.0, 3.0]))
    tape.mul("z", "x", "x")
    print(jacobian(tape, "z", "x"))
    print(tape.backward("z", np.array([1.0, 10.0, 100.0]))["x"])
