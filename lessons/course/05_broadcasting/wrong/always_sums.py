"""You sum over the first axis, whatever was stretched. Where nothing was stretched, nothing is
summed; look at both shapes.
"""


def unbroadcast(gradient, shape):
    return gradient.sum(axis=0)
