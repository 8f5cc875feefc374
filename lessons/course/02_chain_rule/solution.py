# Your tape learns backward: one way to write it.
#
# A row knows nothing of the others. It multiplies what it receives by its own
# derivatives, and passes the products on. The loop only carries them.

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
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
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


if __name__ == "__main__":
    tape = Tape()
    tape.number("x", 3.0)
    tape.number("y", 2.0)
    tape.mul("u", "x", "y")
    tape.square("z", "u")
    print(tape.backward("z"))
