"""You hand one gradient on from row to row. A row with two operands sends two, and only one of them belongs
to the next row: each row takes the gradient of its own result, `gradients[result]`.
"""


class Tape:
    def backward(self, last):
        gradient = 1.0
        gradients = {last: gradient}
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            terms = send(operation, gradient, self.values[result], *numbers)
            for name, gradient in zip(operands, terms):
                gradients[name] = gradient
        return gradients
