"""Where an operand was stretched, you take the mean. Each copy counts in full: sum."""


def unbroadcast(gradient, shape):
    gradient = np.asarray(gradient)
    while gradient.ndim > len(shape):
        gradient = gradient.mean(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.mean(axis=axis, keepdims=True)
    return gradient
