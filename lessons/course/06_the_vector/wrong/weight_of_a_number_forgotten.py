"""Your backward begins with 1 whenever `last` is a single number, even if a weight was given."""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if np.size(self.values[last]) == 1:
            weights = 1.0
        elif weights is None:
            raise ValueError("several numbers need weights")
        gradients = {last: weights}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = np.shape(self.values[name])
                term = unbroadcast(term, shape)
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients
