"""You multiply without transposing anything. Look at the shapes: of `gradient` and `b`, only
`gradient @ b.T` has the shape of a.
"""


def backward(gradient, a, b):
    return gradient @ b, a @ gradient
