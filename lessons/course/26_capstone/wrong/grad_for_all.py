"""Every result gets a `.grad`. Only leaves keep theirs; for all others it would only cost memory."""


class Tensor:
    def __init__(self, value):
        self.grad = None
        self.is_leaf = True
        tape.number(self, np.asarray(value, dtype=float))
        if writer is not None:
            writer.leaf(self, self.value)

    @property
    def value(self):
        return tape.values[self]

    def __add__(self, other):
        return computed("add", self, other)

    def __mul__(self, other):
        return computed("mul", self, other)

    def __matmul__(self, other):
        return computed("matmul", self, other)

    def tanh(self):
        return computed("tanh", self)

    def sum(self):
        return computed("sum", self)

    def backward(self):
        for leaf, gradient in tape.backward(self).items():
            if True:
                before = 0.0 if leaf.grad is None else leaf.grad
                leaf.grad = before + gradient
                if writer is not None:
                    writer.keep(leaf, leaf.grad)


def computed(operation, *operands):
    """The result of an operation of the tape, a new Tensor."""
    result = object.__new__(Tensor)
    result.grad = None
    result.is_leaf = False
    getattr(tape, operation)(result, *operands)
    if writer is not None:
        writer.operation(result, operation, operands, result.value)
    return result
