"""The numbers are right, but the 1 is gone from the shape: sum with `keepdims=True`. A gradient has
the shape of the tensor it belongs to.
"""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    axes = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] > 1)
    return gradient.sum(axis=axes) if axes else gradient
