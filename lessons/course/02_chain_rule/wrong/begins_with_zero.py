"""You begin with a gradient of 0, and zero times anything is zero. The last result moves exactly as
far as itself: begin with 1."""


class Tape:
    def backward(self, last):
        gradients = {last: 0.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
