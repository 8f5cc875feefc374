"""You visit every row of the tape, and those that `last` does not depend on send zeros. The numbers are
right, but the work is done in vain: leave these rows out.
"""


class Tape:
    def backward(self, last):
        """The gradients of `last`, by name."""
        gradients = dict.fromkeys(self.values, 0.0) | {last: 1.0}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients


def order(rows, last):
    return rows[::-1]
