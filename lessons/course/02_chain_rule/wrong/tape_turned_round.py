"""Your `backward` turns the rows of the tape round, and the next backward finds them the wrong way round.
`reversed(self.rows)` leaves them as they are.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        self.rows.reverse()
        for result, operation, *operands in self.rows:
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
