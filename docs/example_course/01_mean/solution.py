# The backward of the mean: one way to write it.
#
# An equal part for each number, whatever its value is.


def backward_of_mean(gradient, numbers):
    return [gradient / len(numbers) for _ in numbers]


if __name__ == "__main__":
    print(backward_of_mean(1.0, [2.0, 4.0]))
