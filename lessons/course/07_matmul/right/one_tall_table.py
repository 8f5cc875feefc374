"""A stack of matrices times one matrix is the same as one tall matrix times it, so the product sums
over the stack too.
"""


def backward(gradient, a, b):
    rows = a.reshape(-1, a.shape[-1])
    for_rows = gradient.reshape(-1, gradient.shape[-1])
    return (for_rows @ b.T).reshape(a.shape), rows.T @ for_rows
