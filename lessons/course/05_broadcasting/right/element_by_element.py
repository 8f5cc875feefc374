"""Each number of the gradient is added, one by one, to the place that its copy came from."""


class Tape:
    def backward(self, last):
        """The gradients of `last`, by name."""
        gradients = {last: 1.0}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = np.asarray(self.values[name]).shape
                term = unbroadcast(term, shape)
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients


def send(operation, gradient, z, *operands):
    """The gradients for the operands of a row with the result z."""
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    if operation == "square":
        (x,) = operands
        return [gradient * 2 * x]
    if operation == "exp":
        return [gradient * z]
    if operation == "sum":
        (x,) = operands
        return [gradient + 0 * x]


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    result = np.zeros(shape)
    for index, number in np.ndenumerate(gradient):
        own = index[len(index) - len(shape) :]
        own = tuple(0 if size == 1 else i for i, size in zip(own, shape, strict=True))
        result[own] += number
    return result
