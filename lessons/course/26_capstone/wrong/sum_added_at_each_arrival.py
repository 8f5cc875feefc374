"""You add the sum to a leaf's `.grad` each time that something arrives, so that the first term counts
again with the second. Add it once, when all has arrived.
"""


class Tape:
    def backward(self, last, weights=None):
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: 1.0 if weights is None else weights}
        if writer is not None:
            writer.begin(last, gradients[last])
        for result, operation, *operands in order(self.rows, last):
            gradient = gradients[result]
            if writer is not None:
                writer.run(result, gradient)
            numbers = [self.values[name] for name in operands]
            for name, term in zip(operands, send(operation, gradient, self.values[result], *numbers)):
                term = unbroadcast(term, np.shape(self.values[name]))
                gradients[name] = gradients.get(name, 0.0) + term
                if writer is not None:
                    writer.deliver(name, term, gradients[name])
                if name.is_leaf:
                    name.grad = gradients[name] if name.grad is None else name.grad + gradients[name]
                    if writer is not None:
                        writer.keep(name, name.grad)
        return gradients


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
            writer.operation(result, operation, list(operands), result.value)
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
        tape.backward(self)
