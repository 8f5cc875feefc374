"""One function talks to the writer, and says nothing while there is none. A tensor is a leaf if no row of the
tape computed it.
"""


class Tape:
    def backward(self, last, weights=None):
        """The gradients of `last`, by name."""
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: 1.0 if weights is None else weights}
        tell("begin", last, gradients[last])
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            tell("run", result, gradient)
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = np.shape(self.values[name])
                term = unbroadcast(term, shape)
                gradients[name] = gradients.get(name, 0.0) + term
                tell("deliver", name, term, gradients[name])
        return gradients

    def tanh(self, result, x):
        self.values[result] = np.tanh(self.values[x])
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
        return [gradient * (1 - z * z)]


def tell(call, *said):
    if writer is not None:
        getattr(writer, call)(*said)


class Tensor:
    def __init__(self, value):
        self.grad = None
        tape.number(self, np.array(value, dtype=float))
        tell("leaf", self, tape.values[self])

    @property
    def value(self):
        return tape.values[self]

    def __add__(self, other):
        return self.then("add", other)

    def __mul__(self, other):
        return self.then("mul", other)

    def __matmul__(self, other):
        return self.then("matmul", other)

    def tanh(self):
        return self.then("tanh")

    def sum(self):
        return self.then("sum")

    def then(self, operation, *others):
        result = Tensor.__new__(Tensor)
        result.grad = None
        write_row = getattr(tape, operation)
        write_row(result, self, *others)
        tell("operation", result, operation, (self, *others), tape.values[result])
        return result

    def backward(self):
        gradients = tape.backward(self)
        computed_by_rows = {row[0] for row in tape.rows}
        for one in gradients.keys() - computed_by_rows:
            one.grad = gradients[one] + (0.0 if one.grad is None else one.grad)
            tell("keep", one, one.grad)
