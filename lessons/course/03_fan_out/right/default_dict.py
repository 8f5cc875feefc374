"""The entries of the dict begin at 0, so it does not matter whether anything has arrived before."""

from collections import defaultdict


class Tape:
    def backward(self, last):
        gradients = defaultdict(float)
        gradients[last] = 1.0
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] += term
        return dict(gradients)
