# An autograd of your own: one way to write it.
#
# All that you wrote since lesson 1 is in here. A Tensor is no more than a name:
# its number, its row and its gradient are where the names were before.

import numpy as np


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.append((result, "add", x, y))

    def square(self, result, x):
        self.values[result] = self.values[x] ** 2
        self.rows.append((result, "square", x))

    def exp(self, result, x):
        self.values[result] = np.exp(self.values[x])
        self.rows.append((result, "exp", x))

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

    def sum(self, result, x):
        self.values[result] = self.values[x].sum()
        self.rows.append((result, "sum", x))

    def matmul(self, result, x, y):
        self.values[result] = self.values[x] @ self.values[y]
        self.rows.append((result, "matmul", x, y))

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


def order(rows, last):
    """The rows that backward visits, the first one first."""
    visited = []
    needed = {last}
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row)
            needed.update(row[2:])
    return visited


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def jacobian(tape, last, name):
    """The table of derivatives: a row for each number of `last`."""
    rows = []
    for i in range(len(tape.values[last])):
        weights = np.zeros(len(tape.values[last]))
        weights[i] = 1.0
        rows.append(tape.backward(last, weights)[name])
    return np.array(rows)


writer = None  # a RecordingWriter of microtape, while one records
tape = Tape()


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
            if leaf.is_leaf:
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


if __name__ == "__main__":
    from microtape.recording import RecordingWriter

    writer = RecordingWriter("my own engine")
    inputs = Tensor([[1.0, 2.0], [3.0, 4.0]])
    weight = Tensor([[1.0], [-1.0]])
    bias = Tensor([3.0])
    shifted = inputs @ weight + bias
    loss = (shifted * shifted).sum()
    loss.backward()
    writer.save("mine.tape")
    print(weight.grad.tolist(), bias.grad.tolist())
    print("now: microtape step mine.tape")
