"""You share the gradient by value. The values of the numbers make no difference; only their count
does.
"""


def backward_of_mean(gradient, numbers):
    return [gradient * number / sum(numbers) for number in numbers]
