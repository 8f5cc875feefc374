def two_numbers(exercise):
    """A gradient of 1, and the numbers 2 and 4"""
    return exercise.backward_of_mean(1.0, [2.0, 4.0])


def other_gradient(exercise):
    """A gradient of 6, and the numbers 1, 1 and 7"""
    return exercise.backward_of_mean(6.0, [1.0, 1.0, 7.0])


def one_number(exercise):
    """A gradient of 3, and the number 5 alone"""
    return exercise.backward_of_mean(3.0, [5.0])


def at_random(exercise, random):
    numbers = random.normal(size=random.integers(1, 6)).tolist()
    return exercise.backward_of_mean(float(random.normal()), numbers)
