"""You begin with no gradient at all, so the last row finds none for its result. The last result
moves exactly as far as itself: begin with 1 for it."""


class Tape:
    def backward(self, last):
        gradients = {}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
