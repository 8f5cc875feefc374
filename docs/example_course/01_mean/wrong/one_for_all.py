"""You return one gradient for all numbers. Each number has its own gradient: return a list."""


def backward_of_mean(gradient, numbers):
    return gradient / len(numbers)
