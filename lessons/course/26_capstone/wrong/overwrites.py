"""Each gradient that arrives replaces the one before it. If a tensor is used twice, both count:
add.
"""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: 1.0 if weights is None else weights}
        if writer is not None:
            writer.begin(last, gradients[last])
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            if writer is not None:
                writer.run(result, gradient)
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = np.shape(self.values[name])
                term = unbroadcast(term, shape)
                gradients[name] = term
                if writer is not None:
                    writer.deliver(name, term, gradients[name])
        return gradients
