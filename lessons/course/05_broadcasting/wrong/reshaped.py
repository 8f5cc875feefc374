"""You change the shape and keep all the numbers, and they do not fit. What was used several times
gets the sum of its gradients: fewer numbers come out than went in.
"""


def unbroadcast(gradient, shape):
    return gradient.reshape(shape)
