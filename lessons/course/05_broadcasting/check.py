import numpy as np


def same_shape(exercise):
    """Nothing was stretched: (2, 3) from (2, 3)"""
    return _try(exercise, (2, 3), (2, 3))


def added_dimension(exercise):
    """A dimension was added: (2, 3) from (3,)"""
    return _try(exercise, (2, 3), (3,))


def repeated_dimension(exercise):
    """A dimension of size 1 was repeated: (2, 3) from (2, 1)"""
    return _try(exercise, (2, 3), (2, 1))


def repeated_first(exercise):
    """The first dimension was repeated: (2, 3) from (1, 3)"""
    return _try(exercise, (2, 3), (1, 3))


def single_number(exercise):
    """A single number was stretched to a table: (2, 3) from ()"""
    return _try(exercise, (2, 3), ())


def both(exercise):
    """Two dimensions were added and one repeated: (2, 2, 2, 3) from (2, 1)"""
    return _try(exercise, (2, 2, 2, 3), (2, 1))


def ones_that_stay(exercise):
    """A dimension of size 1 that was not repeated: (1, 3) from (1, 1)"""
    return _try(exercise, (1, 3), (1, 1))


def not_changed(exercise):
    """The gradient that was passed in is unchanged afterwards"""
    gradient = np.arange(1.0, 7.0).reshape(2, 3)
    exercise.unbroadcast(gradient, (1, 3))
    return gradient


def _try(exercise, from_shape, to_shape):
    gradient = np.arange(1.0, 1.0 + np.prod(from_shape)).reshape(from_shape)
    return np.asarray(exercise.unbroadcast(gradient, to_shape))


def at_random(exercise, random):
    to_shape = tuple(random.integers(1, 4, random.integers(0, 4)).tolist())
    repeated = [size if size > 1 else int(random.integers(1, 4)) for size in to_shape]
    added = random.integers(1, 4, random.integers(0, 3)).tolist()
    gradient = random.normal(size=(*added, *repeated))
    return np.asarray(exercise.unbroadcast(gradient, to_shape))
