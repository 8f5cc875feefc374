"""You share by value. What the numbers are makes no difference; how many they are does."""


def backward_of_mean(gradient, numbers):
    return [gradient * number / sum(numbers) for number in numbers]
