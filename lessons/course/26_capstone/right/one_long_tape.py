"""One tape for the whole program, as in lesson 1: a list of rows, read from the end. It needs no
numbers and no sorting, but nothing is ever freed.
"""

import numpy as np

tape = []  # rows: the result, its operands, and a function from its gradient to theirs


class Tensor:
    def __init__(self, value):
        self.value = np.asarray(value, dtype=float)
        self.grad = None
        self.is_leaf = True

    def __add__(self, other):
        return _record(self.value + other.value, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        x, y = self.value, other.value
        return _record(x * y, (self, other), lambda g: (g * y, g * x))

    def __matmul__(self, other):
        x, y = self.value, other.value
        return _record(x @ y, (self, other), lambda g: (g @ y.transpose(), x.transpose() @ g))

    def tanh(self):
        x = self.value
        return _record(np.tanh(x), (self,), lambda g: (g / np.cosh(x) ** 2,))

    def sum(self):
        shape = self.value.shape
        return _record(self.value.sum(), (self,), lambda g: (np.full(shape, g),))

    def backward(self):
        gradients = {self: np.array(1.0)}
        for result, operands, back in reversed(tape):
            if result in gradients:
                for operand, term in zip(operands, back(gradients.pop(result)), strict=True):
                    term = _fit(term, operand.value)
                    gradients[operand] = term + gradients[operand] if operand in gradients else term
        for leaf, gradient in gradients.items():
            if leaf.is_leaf:
                leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient


def _record(value, operands, back):
    result = Tensor(value)
    result.is_leaf = False
    tape.append((result, operands, back))
    return result


def _fit(gradient, value):
    added = tuple(range(gradient.ndim - value.ndim))
    gradient = gradient.sum(axis=added)
    repeated = tuple(axis for axis, size in enumerate(value.shape) if size != gradient.shape[axis])
    return gradient.sum(axis=repeated, keepdims=True)
