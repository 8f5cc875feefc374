"""You give the whole gradient to each number. A push at one number moves the mean only by its part."""


def backward_of_mean(gradient, numbers):
    return [gradient for _ in numbers]
