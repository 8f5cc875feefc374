"""Your sums begin with 1 instead of 0. Before anything has arrived, the sum is 0."""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = gradients.get(name, 1.0) + term
        return gradients
