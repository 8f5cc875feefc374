"""You add to what is there, but when the first gradient arrives at a name, nothing is there yet.
`gradients.get(name, 0.0)` is what has arrived so far, and 0.0 if nothing has.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] += term
        return gradients
