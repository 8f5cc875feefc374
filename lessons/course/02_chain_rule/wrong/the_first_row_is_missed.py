"""You leave out the first row of the tape. It has the index 0, so a range that ends at it needs -1 as its
stop; `reversed(self.rows)` needs no indexes.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in self.rows[:0:-1]:
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = term
        return gradients
