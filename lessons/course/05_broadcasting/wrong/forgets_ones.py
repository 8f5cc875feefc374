"""You sum over the dimensions that were added, but not over those of size 1 that were repeated."""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    return gradient
