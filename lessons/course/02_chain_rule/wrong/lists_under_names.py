"""You store the list of all terms under each name. Each operand has a term of its own: `zip(operands, terms)`
pairs them.
"""


class Tape:
    def backward(self, last):
        gradients = {last: [1.0]}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result][0], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name in operands:
                gradients[name] = terms
        gradients[last] = 1.0
        return gradients
