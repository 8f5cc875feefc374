"""You take the weighted mean of the results. Use the weights as they are: the gradient is the
weighted sum of the rows.
"""

# The vector that you pass to backward: one way to write it.
#
# A row of the table is one more weighted sum: weight 1 for one result, 0 for
# the others.

import microtape as mt


def weighted(f, values, weights):
    x = mt.tensor(values, requires_grad=True)
    f(x).backward(gradient=mt.tensor(weights) / sum(weights))
    return x.grad.tolist()


def jacobian(f, values):
    rows = []
    for i in range(len(f(mt.tensor(values)))):
        x = mt.tensor(values, requires_grad=True)
        y = f(x)
        one = mt.zeros(len(y))
        one[i] = 1.0
        y.backward(gradient=one)
        rows.append(x.grad.tolist())
    return rows
