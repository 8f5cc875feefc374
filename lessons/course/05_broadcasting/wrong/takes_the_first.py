"""You cut out the first part that has the right shape. Every copy was used, so every copy counts:
sum over them.
"""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    while gradient.ndim > len(shape):
        gradient = gradient[0]
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.take([0], axis=axis)
    return gradient
