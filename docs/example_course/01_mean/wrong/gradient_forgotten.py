"""You forget the gradient that arrives at the mean. Multiply by it: that is the chain rule."""


def backward_of_mean(gradient, numbers):
    return [1 / len(numbers) for _ in numbers]
