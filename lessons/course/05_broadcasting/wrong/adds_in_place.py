"""You add with `+=` into an array that belongs to somebody else as well: `add` sends one array to both operands,
and it is the gradient of the sum. `a = a + b` makes a new array.
"""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                term = unbroadcast(term, np.shape(self.values[name]))
                if name in gradients:
                    gradients[name] += term
                else:
                    gradients[name] = term
        return gradients
