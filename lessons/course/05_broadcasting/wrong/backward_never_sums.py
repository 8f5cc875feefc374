"""Your `unbroadcast` is right, but `backward` does not call it: what a row sends has the shape of its result.
Call it on every term, with the operand's shape, before you add.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients
