"""A stack of tables with one matrix is the same as one tall table with it, so the sum over the
stack comes by itself.
"""


def backward(gradient, a, b):
    rows = a.reshape(-1, a.shape[-1])
    for_rows = gradient.reshape(-1, gradient.shape[-1])
    return (for_rows @ b.T).reshape(a.shape), rows.T @ for_rows
