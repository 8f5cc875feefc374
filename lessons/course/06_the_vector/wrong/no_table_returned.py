"""Your `jacobian` returns None. Is a `return` missing?"""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: 1.0 if weights is None else weights}
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
    rows = []
    for i in range(len(tape.values[last])):
        weights = np.zeros(len(tape.values[last]))
        weights[i] = 1.0
        rows.append(tape.backward(last, weights)[name])
    print(np.array(rows))
