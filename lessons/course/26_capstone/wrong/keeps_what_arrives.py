"""You store the arriving array itself as .grad, and later add to it in place. x + y sends one and the
same array to both operands, so what is added to x.grad also appears in y.grad. Compute a new array:
`x.grad = x.grad + gradient`, or store a copy.
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
                gradients[name] = gradients[name] + term if name in gradients else term
                if writer is not None:
                    writer.deliver(name, term, gradients[name])
        return gradients


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
            if leaf.is_leaf and leaf.grad is None:
                leaf.grad = gradient
            elif leaf.is_leaf:
                leaf.grad += gradient
            if leaf.is_leaf and writer is not None:
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
