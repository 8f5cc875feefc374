"""The rows of the identity matrix are the weights."""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if weights is None:
            if np.size(self.values[last]) > 1:
                raise ValueError
            weights = np.ones_like(self.values[last])
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


def jacobian(tape, last, name):
    """The table of derivatives: a row for each number of `last`."""
    return np.stack([tape.backward(last, weights)[name] for weights in np.eye(len(tape.values[last]))])
