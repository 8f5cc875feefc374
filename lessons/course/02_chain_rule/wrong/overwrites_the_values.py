"""You store the gradients among the values. Rows that come later need those values: keep the gradients in a
dict of their own.
"""


class Tape:
    def backward(self, last):
        self.values[last] = 1.0
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient = z = self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                self.values[name] = term
        return self.values
