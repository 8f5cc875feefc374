"""Your `multiplied` writes into the gradient that it was handed. Without a copy, your name for
it is a window, too.
"""

# Going back through a window: one way to write it.
#
# Outside of the window nothing happened, so the gradient stays as it is. The
# copies are there because an array, too, is looked at through windows.

import numpy as np


def multiplied(gradient, index, factor):
    for_y = gradient
    for_y[index] *= factor
    return for_y


def replaced(gradient, index, shape):
    for_y = gradient.copy()
    for_y[index] = 0.0
    for_v = gradient[index].copy()
    return for_y, for_v if for_v.shape == shape else for_v.sum()
