"""You visit the rows in the order in which they ran. The gradient of the first result is known
last: begin with the last row."""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in self.rows:
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
