"""You write the sum into the gradient that was passed in. Other code may hold the same array: make
a new one.
"""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            total = gradient.sum(axis=axis, keepdims=True)
            gradient[...] = total
            gradient = total
    return gradient
