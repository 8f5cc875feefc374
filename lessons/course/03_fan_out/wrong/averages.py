"""You take the mean of what arrives. Two paths from x to the result do not share one push; each
moves the result in full: add.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = (gradients[name] + term) / 2 if name in gradients else term
        return gradients
