"""`*` multiplies number by number. A matrix product is `@`, on the way back as well."""


def backward(gradient, a, b):
    return gradient * b, gradient * a
