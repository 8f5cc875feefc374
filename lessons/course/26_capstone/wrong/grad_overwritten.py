"""A second backward throws away what `.grad` had. It accumulates until somebody sets it to None."""

import itertools

import numpy as np

numbers = itertools.count()


class Tensor:
    def __init__(self, value, ways=()):
        self.value = np.asarray(value, dtype=float)
        self.grad = None
        self.ways = ways  # of an operand, and of a gradient back to it
        self.number = next(numbers)

    def __add__(self, other):
        ways = [(self, lambda g: g), (other, lambda g: g)]
        return Tensor(self.value + other.value, ways)

    def __mul__(self, other):
        x, y = self.value, other.value
        ways = [(self, lambda g: g * y), (other, lambda g: g * x)]
        return Tensor(x * y, ways)

    def __matmul__(self, other):
        x, y = self.value, other.value
        ways = [(self, lambda g: g @ y.T), (other, lambda g: x.T @ g)]
        return Tensor(x @ y, ways)

    def tanh(self):
        t = np.tanh(self.value)
        return Tensor(t, [(self, lambda g: g * (1 - t * t))])

    def sum(self):
        x = self.value
        way = (self, lambda g: np.broadcast_to(g, x.shape))
        return Tensor(x.sum(), [way])

    def backward(self):
        gradients = {self: np.ones_like(self.value)}
        for result in history(self):
            gradient = gradients.pop(result)
            if not result.ways:
                result.grad = gradient
            for operand, way in result.ways:
                term = unbroadcast(way(gradient), operand.value.shape)
                gradients[operand] = gradients.get(operand, 0) + term


def history(result):
    """The result and all that it came from, the last one first."""
    found, waiting = {result}, [result]
    while waiting:
        operands = {operand for operand, _ in waiting.pop().ways}
        waiting += operands - found
        found |= operands
    return sorted(found, key=lambda one: one.number, reverse=True)


def unbroadcast(gradient, shape):
    """The gradient, summed over what was stretched from `shape`."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
