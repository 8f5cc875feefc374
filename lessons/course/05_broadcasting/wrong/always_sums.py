"""You always sum over the first axis. Compare the shapes and sum only over what was stretched."""


def unbroadcast(gradient, shape):
    return gradient.sum(axis=0)
