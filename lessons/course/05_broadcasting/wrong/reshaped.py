"""You only reshape the gradient, and its numbers do not fit into the new shape. A number that was
used several times gets the sum of its gradients, so fewer numbers come out than went in.
"""


def unbroadcast(gradient, shape):
    """The gradient of an operand that had `shape`."""
    gradient = np.asarray(gradient)  # it may be a plain number
    return gradient.reshape(shape)
