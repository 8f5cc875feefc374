"""You begin with the value of the last result. A gradient is not a value: the last result moves exactly
as far as itself, whatever it is. Begin with 1."""


class Tape:
    def backward(self, last):
        gradients = {last: self.values[last]}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
