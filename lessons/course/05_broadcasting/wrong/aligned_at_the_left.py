"""You remove dimensions at the right end. Shapes are aligned at their right ends, so the added
dimensions are on the left: start with the first axis.
"""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=-1)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
