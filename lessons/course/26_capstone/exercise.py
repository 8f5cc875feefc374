# An autograd of your own.
#
# `Tensor(value)` is a leaf that holds a numpy array of floats, and
# its `.grad` is None. Operations return new Tensors:
#
#     x + y    x * y     both broadcast, as numpy does
#     x @ y              of two matrices
#     x.tanh()           derivative 1 - tanh(x)²
#     x.sum()            of all elements, a single number
#
# `result.backward()`, where result is a single number, adds the
# gradient of result to the `.grad` of every leaf that it depends
# on: a numpy array in the shape of the leaf's value. The `.grad` of
# every other Tensor stays None.
#
# `backward` may be called more than once, and on programs of
# thousands of rows. You need not free anything.
#
# Complete the class. `unbroadcast` is the one from lesson 5.

import numpy as np


class Tensor:
    def __init__(self, value):
        self.value = np.asarray(value, dtype=float)
        self.grad = None

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


def unbroadcast(gradient, shape):
    """The gradient, summed over what was stretched from `shape`."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


if __name__ == "__main__":
    weight = Tensor([[1.0], [-1.0]])
    bias = Tensor([3.0])
    shifted = Tensor([[1.0, 2.0], [3.0, 4.0]]) @ weight + bias
    (shifted * shifted).sum().backward()
    print(weight.grad.tolist(), bias.grad.tolist())
