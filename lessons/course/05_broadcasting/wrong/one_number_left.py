"""You always return a single number. Sum only over what was stretched: the result has the shape of the operand."""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    return np.asarray(gradient).sum()
