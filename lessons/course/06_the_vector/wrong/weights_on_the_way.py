"""You multiply every term by the weights. They belong to `last` alone: begin with them."""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: np.ones_like(self.values[last])}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = np.shape(self.values[name])
                term = unbroadcast(term if weights is None else term * weights, shape)
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients
