"""You store the arriving array itself as .grad, and later add to it in place. x + y sends one and the
same array to both operands, so what is added to x.grad also appears in y.grad. Compute a new array:
`x.grad = x.grad + gradient`, or store a copy.
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
        edge = (self, lambda g: np.full(x.shape, g))
        return Tensor(x.sum(), [edge])

    def backward(self):
        gradients = {self: np.ones_like(self.value)}
        for result in history(self):
            gradient = gradients.pop(result)
            if not result.edges:
                if result.grad is None:
                    result.grad = gradient
                else:
                    result.grad += gradient
            for operand, vjp in result.edges:
                term = unbroadcast(vjp(gradient), operand.value.shape)
                if operand in gradients:
                    term = gradients[operand] + term
                gradients[operand] = term


def history(result):
    """The result and everything it depends on, the last one first."""
    found, waiting = {result}, [result]
    while waiting:
        operands = {operand for operand, _ in waiting.pop().edges}
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
