import numpy as np


def bills(exercise):
    """Two orders of three goods: (2, 3) @ (3, 1)"""
    return _try(exercise, (2, 3), (3, 1))


def wide(exercise):
    """All sizes differ: (2, 3) @ (3, 4)"""
    return _try(exercise, (2, 3), (3, 4))


def square(exercise):
    """Both are square, so every order fits: (2, 2) @ (2, 2)"""
    return _try(exercise, (2, 2), (2, 2))


def stack(exercise):
    """A stack of two matrices and one matrix: (2, 3, 4) @ (4, 2)"""
    return _try(exercise, (2, 3, 4), (4, 2))


def square_stack(exercise):
    """A stack whose sizes are all the same: (2, 2, 2) @ (2, 2)"""
    return _try(exercise, (2, 2, 2), (2, 2))


def stack_of_one(exercise):
    """A stack of a single matrix: (1, 2, 3) @ (3, 2)"""
    return _try(exercise, (1, 2, 3), (3, 2))


def _try(exercise, a_shape, b_shape):
    a, b = _numbers(a_shape, 1.0), _numbers(b_shape, -2.0)
    gradient = _numbers((a @ b).shape, 0.5)
    for_a, for_b = exercise.backward(gradient, a, b)
    return {"gradient of a": np.asarray(for_a), "gradient of b": np.asarray(for_b)}


def _numbers(shape, first):
    """No two are the same, and nothing is symmetric."""
    n = np.arange(np.prod(shape))
    return (first + n * n).reshape(shape)
