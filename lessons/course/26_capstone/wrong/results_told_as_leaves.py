"""You tell the writer of every result that it is a leaf. A number that an operation has computed is
told with `operation`.
"""


class Tensor:
    def __init__(self, value):
        self.grad = None
        self.is_leaf = True
        tape.number(self, np.array(value, dtype=float))
        if writer is not None:
            writer.leaf(self, self.value)

    @property
    def value(self):
        return tape.values[self]

    def _new(self, operation, *operands):
        result = object.__new__(Tensor)
        result.grad, result.is_leaf = None, False
        getattr(tape, operation)(result, *operands)
        if writer is not None:
            writer.leaf(result, result.value)
        return result

    def __add__(self, other):
        return self._new("add", self, other)

    def __mul__(self, other):
        return self._new("mul", self, other)

    def __matmul__(self, other):
        return self._new("matmul", self, other)

    def tanh(self):
        return self._new("tanh", self)

    def sum(self):
        return self._new("sum", self)

    def backward(self):
        for name, gradient in tape.backward(self).items():
            if name.is_leaf:
                name.grad = gradient if name.grad is None else name.grad + gradient
                if writer is not None:
                    writer.keep(name, name.grad)
