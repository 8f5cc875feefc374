"""With a stack, your gradient of b is a stack as well. It is one matrix that was used several
times: sum.
"""

# The way back through a matrix product: one way to write it.
#
# Two products, and the sum over what was used more than once: the rows of
# the table by the product itself, the tables of a stack by hand.

import numpy as np


def backward(gradient, a, b):
    for_a = gradient @ b.T
    for_b = np.swapaxes(a, -1, -2) @ gradient
    return for_a, for_b
