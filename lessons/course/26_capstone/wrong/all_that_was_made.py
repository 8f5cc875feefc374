"""You visit every row that was ever written, and give gradients to tensors that the result does not
depend on. Their `.grad` should stay None.
"""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: 1.0 if weights is None else weights}
        if writer is not None:
            writer.begin(last, gradients[last])
        for result, operation, *operands in reversed(self.rows):
            numbers = [self.values[name] for name in operands]
            z = self.values[result]
            gradient = gradients.get(result, 0.0 * z)
            if writer is not None:
                writer.run(result, gradient)
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = np.shape(self.values[name])
                term = unbroadcast(term, shape)
                gradients[name] = gradients.get(name, 0.0) + term
                if writer is not None:
                    writer.deliver(name, term, gradients[name])
        return gradients
