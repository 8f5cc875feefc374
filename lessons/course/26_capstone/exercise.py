# An autograd of your own.
#
# This is your file from lesson 7. Three things finish it.
#
# 1. `tanh`: one more operation of the tape, with the derivative
#    1 - tanh(x)², and its line in `send`.
#
# 2. `Tensor`: programs write `x @ y + b` and not names of rows. A
#    Tensor is the name of a number on `tape`: `tape.values[x]`,
#    and rows like (z, "add", x, y), hold Tensors from now on.
#    `Tensor(value)` is a leaf, and its `.grad` is None.
#
#        x.value              what the tape holds for x
#        x + y    x * y       both broadcast, as numpy does
#        x @ y                of two matrices
#        x.tanh()
#        x.sum()              of all elements, a single number
#        result.backward()    adds the gradient of result to the
#                             `.grad` of every leaf that it
#                             depends on, and to no other `.grad`
#
#    `backward` may be called more than once, and on programs of
#    thousands of rows. You need not free anything.
#
# 3. Your engine tells `writer` what it does, unless that is None:
#
#        writer.leaf(x, value)              in `Tensor(value)`
#        writer.operation(z, "add", [x, y], value)
#        writer.begin(result, gradient)     backward begins
#        writer.run(z, gradient)            a row takes its gradient
#        writer.deliver(x, term, total)     sent to x; the sum there
#        writer.keep(x, grad)               the .grad of a leaf
#
#    Then the stepper shows your own engine at work.

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
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = np.shape(self.values[name])
                term = unbroadcast(term, shape)
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients

    def sum(self, result, x):
        self.values[result] = self.values[x].sum()
        self.rows.append((result, "sum", x))

    def matmul(self, result, x, y):
        self.values[result] = self.values[x] @ self.values[y]
        self.rows.append((result, "matmul", x, y))

    def tanh(self, result, x):
        raise NotImplementedError


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
        raise NotImplementedError

    @property
    def value(self):
        raise NotImplementedError

    def __add__(self, other):
        raise NotImplementedError

    def __mul__(self, other):
        raise NotImplementedError

    def __matmul__(self, other):
        raise NotImplementedError

    def tanh(self):
        raise NotImplementedError

    def sum(self):
        raise NotImplementedError

    def backward(self):
        raise NotImplementedError


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
