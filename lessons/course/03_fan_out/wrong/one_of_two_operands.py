"""When both operands are the same name, only one of the two gradients is left: you compute both sums
from what was there before, and the second replaces the first. Store each sum before the next.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            sums = [gradients.get(name, 0.0) + term for name, term in zip(operands, terms)]
            gradients.update(zip(operands, sums))
        return gradients
