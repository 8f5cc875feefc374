"""You sum over everything and repeat the total. Sum only over what was stretched."""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    return gradient if gradient.shape == tuple(shape) else np.full(shape, gradient.sum())
