# The vector that is handed in.
#
# `f` takes a tensor of n numbers and gives one of m numbers.
#
#     pairs = lambda x: x[1:] * x[:-1]
#
#     weighted(pairs, [1.0, 2.0, 3.0], [10.0, 1.0])
#         [20.0, 13.0, 2.0]
#     jacobian(pairs, [1.0, 2.0, 3.0])
#         [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]
#
# `weighted` gives the gradient at `values` where result number i
# counts weights[i]: n plain numbers. It calls f once.
#
# `jacobian` gives the table of all slopes: m lists of n numbers.
#
# Complete both.

import microtape as mt


def weighted(f, values, weights):
    raise NotImplementedError


def jacobian(f, values):
    raise NotImplementedError


if __name__ == "__main__":

    def pairs(x):
        return x[1:] * x[:-1]

    print(weighted(pairs, [1.0, 2.0, 3.0], [10.0, 1.0]))
    print(jacobian(pairs, [1.0, 2.0, 3.0]))
