"""You return one gradient for all of them. Every number has a gradient of its own: return a list."""


def backward_of_mean(gradient, numbers):
    return gradient / len(numbers)
