"""You pass names to `send`, but it takes numbers: `self.values[name]`."""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = operands
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
