"""Results have a class of their own, and the tape knows which tensors have rows."""


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
                gradients[name] = gradients.get(name, 0.0) + term
                if writer is not None:
                    writer.deliver(name, term, gradients[name])
        return gradients

    def tanh(self, result, x):
        self.values[result] = 1 - 2 / (np.exp(2 * self.values[x]) + 1)
        self.rows.append((result, "tanh", x))


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
        return [gradient * np.ones_like(x)]
    if operation == "matmul":
        x, y = operands
        return [gradient @ y.T, np.swapaxes(x, -1, -2) @ gradient]
    if operation == "tanh":
        return [gradient * (1 + z) * (1 - z)]


class Tensor:
    def __init__(self, value):
        self.grad = None
        if value is not None:
            tape.values[self] = np.array(value, float)
            if writer:
                writer.leaf(self, tape.values[self])

    @property
    def value(self):
        return tape.values[self]

    def __add__(self, other):
        return Result(tape.add, self, other)

    def __mul__(self, other):
        return Result(tape.mul, self, other)

    def __matmul__(self, other):
        return Result(tape.matmul, self, other)

    def tanh(self):
        return Result(tape.tanh, self)

    def sum(self):
        return Result(tape.sum, self)

    def backward(self):
        for one, gradient in tape.backward(self).items():
            if type(one) is Tensor:
                one.grad = np.array(gradient) if one.grad is None else one.grad + gradient
                if writer:
                    writer.keep(one, one.grad)


class Result(Tensor):
    def __init__(self, operation, *operands):
        super().__init__(None)
        operation(self, *operands)
        if writer:
            writer.operation(self, operation.__name__, operands, self.value)
