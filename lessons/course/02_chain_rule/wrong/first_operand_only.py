"""Only the first operand of a row gets its gradient. A row of two operands sends two: `zip(operands, terms)`
pairs them."""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            gradients[operands[0]] = terms[0]
        return gradients
