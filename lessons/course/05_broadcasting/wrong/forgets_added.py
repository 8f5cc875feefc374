"""You sum over dimensions of size 1, but a dimension that is missing in `shape` was stretched as
well: sum over it too.
"""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    if gradient.ndim == len(shape):
        for axis, size in enumerate(shape):
            if size == 1:
                gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
