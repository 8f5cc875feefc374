# The vector that you pass to backward.
#
# `f` takes a tensor of n numbers and returns a tensor of m numbers.
#
#     pairs = lambda x: x[1:] * x[:-1]
#
#     weighted(pairs, [1.0, 2.0, 3.0], [10.0, 1.0])
#         [20.0, 13.0, 2.0]
#     jacobian(pairs, [1.0, 2.0, 3.0])
#         [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]
#
# `weighted` returns the gradient at `values` when result i has the
# weight weights[i]: n plain numbers. It calls f once.
#
# `jacobian` returns the table of all derivatives: m lists of n
# numbers.
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
