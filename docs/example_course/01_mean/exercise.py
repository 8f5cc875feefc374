# The backward of the mean.
#
# `numbers` is a list, and `gradient` is the gradient of their mean.
# Return the list of the gradients of the numbers.
#
#     backward_of_mean(1.0, [2.0, 4.0])    [0.5, 0.5]
#
# Complete the function.


def backward_of_mean(gradient, numbers):
    raise NotImplementedError


if __name__ == "__main__":
    print(backward_of_mean(1.0, [2.0, 4.0]))
