"""Each result waits until all results that use it have been visited; backward counts those first.
The engine does the same, and it needs neither a tape nor numbers.
"""

import numpy as np


class Tensor:
    def __init__(self, value, *edges):
        self.value = np.array(value, float)
        self.grad = None
        self.edges = edges

    def __add__(self, other):
        return Tensor(self.value + other.value, (self, np.copy), (other, np.copy))

    def __mul__(self, other):
        return Tensor(self.value * other.value, (self, lambda g: other.value * g), (other, lambda g: self.value * g))

    def __matmul__(self, other):
        edges = (self, lambda g: g.dot(other.value.T)), (other, lambda g: self.value.T.dot(g))
        return Tensor(self.value.dot(other.value), *edges)

    def tanh(self):
        result = Tensor(np.tanh(self.value))
        slope = 1.0 - np.square(result.value)
        result.edges = ((self, lambda g: slope * g),)
        return result

    def sum(self):
        return Tensor(np.sum(self.value), (self, lambda g: g * np.ones_like(self.value)))

    def backward(self):
        users, arrived, ready = count_users(self), {id(self): 1.0}, [self]
        while ready:
            result = ready.pop()
            gradient = arrived.pop(id(result))
            if not result.edges:
                result.grad = gradient if result.grad is None else result.grad + gradient
            for operand, vjp in result.edges:
                term = unbroadcast(vjp(gradient), operand.value.shape)
                arrived[id(operand)] = arrived.get(id(operand), 0.0) + term
                users[id(operand)] -= 1
                if users[id(operand)] == 0:
                    ready.append(operand)


def count_users(result):
    users, waiting = {id(result): 0}, [result]
    while waiting:
        for operand, _ in waiting.pop().edges:
            if id(operand) not in users:
                users[id(operand)] = 0
                waiting.append(operand)
            users[id(operand)] += 1
    return users


def unbroadcast(gradient, shape):
    if gradient.shape == shape:
        return gradient
    if gradient.ndim > len(shape):
        return unbroadcast(gradient.sum(0), shape)
    axis = next(axis for axis, size in enumerate(shape) if size < gradient.shape[axis])
    return unbroadcast(gradient.sum(axis, keepdims=True), shape)
