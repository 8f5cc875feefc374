"""You pass the value of the result to `send` where it takes the gradient, and the gradient where it takes the
value. First the gradient: `send(operation, gradient, z, *numbers)`.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, z, gradient, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
