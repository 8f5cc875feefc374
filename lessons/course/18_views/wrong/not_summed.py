"""If v is a single number, you return several gradients for it. It was stretched over the window:
sum.
"""

# Backward through a window: one way to write it.
#
# Outside the window nothing happened, so the gradient stays as it is. The
# copies are there because a part of an array is a window too.

import numpy as np


def multiplied(gradient, index, factor):
    for_y = gradient.copy()
    for_y[index] *= factor
    return for_y


def replaced(gradient, index, shape):
    for_y = gradient.copy()
    for_y[index] = 0.0
    for_v = gradient[index].copy()
    return for_y, for_v
