"""`item` itself refuses to make one number of several. The table is filled row by row."""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if weights is None:
            np.asarray(self.values[last]).item()
            weights = 1.0
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
    m, n = len(tape.values[last]), len(tape.values[name])
    table = np.zeros((m, n))
    for i in range(m):
        table[i] = tape.backward(last, np.where(np.arange(m) == i, 1.0, 0.0))[name]
    return table
