"""Your `backward` takes the rows off the tape, and a second backward finds none. Go over them with
`reversed(self.rows)`, which leaves them where they are.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        while self.rows:
            result, operation, *operands = self.rows.pop()
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
