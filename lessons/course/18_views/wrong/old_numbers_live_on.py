"""In `replaced`, the old numbers of the window get a gradient. The result no longer depends on
them: 0.
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
    for_v = gradient[index].copy()
    return for_y, for_v if for_v.shape == shape else for_v.sum()
