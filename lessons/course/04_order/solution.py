# The order of backward: one way to write it.
#
# The tape itself is the plan. Read from its end, it gives every row after all
# rows that use its result. The rows that `last` does not depend on are left
# out.

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


if __name__ == "__main__":
    tape = Tape()
    tape.number("x", 2.0)
    tape.square("a", "x")
    tape.mul("z", "a", "x")
    tape.exp("aside", "a")
    print(order(tape.rows, "z"))
    print(tape.backward("z"))
