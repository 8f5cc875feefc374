"""You always sum over the first axis. Compare the shapes and sum only over what was stretched."""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    return gradient.sum(axis=0)
