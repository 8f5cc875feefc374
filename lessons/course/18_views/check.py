import numpy as np


def times(exercise):
    """y[1:] *= 5, when 1, 10 and 100 arrive"""
    return np.asarray(exercise.multiplied(_three(), slice(1, None), 5.0))


def times_in_a_table(exercise):
    """The second row of a 3 × 2 table is multiplied by -2"""
    return np.asarray(exercise.multiplied(_table(), 1, -2.0))


def times_leaves_it_alone(exercise):
    """The gradient after multiplied(...), and after a write into what it returned"""
    gradient = _three()
    np.asarray(exercise.multiplied(gradient, slice(1, None), 5.0))[0] = -1.0
    return gradient


def replaced_by_two(exercise):
    """y[1:] = v, where v has two numbers"""
    return _pair(exercise.replaced(_three(), slice(1, None), (2,)))


def replaced_by_one(exercise):
    """y[1:] = v, where v is a single number"""
    return _pair(exercise.replaced(_three(), slice(1, None), ()))


def replaced_in_a_table(exercise):
    """The second column of a 3 × 2 table is replaced"""
    return _pair(exercise.replaced(_table(), (slice(None), 1), (3,)))


def one_number(exercise):
    """y[0] = v: a single number is replaced by a single number"""
    return _pair(exercise.replaced(_three(), 0, ()))


def replaced_leaves_it_alone(exercise):
    """The gradient after replaced(...), and after a write into what it returned"""
    gradient = _three()
    for_y, for_v = exercise.replaced(gradient, slice(1, None), (2,))
    for_y[0] = for_v[0] = -1.0
    return gradient


def _pair(gradients):
    for_y, for_v = gradients
    return {"gradient of y": np.asarray(for_y), "gradient of v": np.asarray(for_v)}


def _three():
    return np.array([1.0, 10.0, 100.0])


def _table():
    return np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
