"""Your backward calls itself once for each row on the way to a leaf, and Python allows about a
thousand nested calls. Use a loop, with a list of the results that are still to be visited.
"""

import itertools

import numpy as np

numbers = itertools.count()


class Tensor:
    def __init__(self, value, edges=()):
        self.value = np.asarray(value, dtype=float)
        self.grad = None
        self.edges = edges  # pairs of an operand and its VJP
        self.number = next(numbers)

    def __add__(self, other):
        edges = [(self, lambda g: g), (other, lambda g: g)]
        return Tensor(self.value + other.value, edges)

    def __mul__(self, other):
        x, y = self.value, other.value
        edges = [(self, lambda g: g * y), (other, lambda g: g * x)]
        return Tensor(x * y, edges)

    def __matmul__(self, other):
        x, y = self.value, other.value
        edges = [(self, lambda g: g @ y.T), (other, lambda g: x.T @ g)]
        return Tensor(x @ y, edges)

    def tanh(self):
        t = np.tanh(self.value)
        return Tensor(t, [(self, lambda g: g * (1 - t * t))])

    def sum(self):
        x = self.value
        edge = (self, lambda g: np.broadcast_to(g, x.shape))
        return Tensor(x.sum(), [edge])

    def backward(self):
        gradients = {self: np.ones_like(self.value)}
        for result in history(self):
            gradient = gradients.pop(result)
            if not result.edges:
                before = 0 if result.grad is None else result.grad
                result.grad = before + gradient
            for operand, vjp in result.edges:
                term = unbroadcast(vjp(gradient), operand.value.shape)
                gradients[operand] = gradients.get(operand, 0) + term


def history(result):
    """The result and everything it depends on, the last one first."""
    found = []

    def visit(one):
        for operand, _ in one.edges:
            if operand not in found:
                visit(operand)
        found.append(one)

    visit(result)
    return found[::-1]


def unbroadcast(gradient, shape):
    """The gradient, summed over what was stretched from `shape`."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
