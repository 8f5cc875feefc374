"""Your `weighted` builds the whole table and then weights its rows, with one call of f for each
row. One pass is enough: that is what the vector is for.
"""

# The vector that you pass to backward: one way to write it.
#
# A row of the table is one more weighted sum: weight 1 for one result, 0 for
# the others.

import microtape as mt


def weighted(f, values, weights):
    rows = mt.tensor(jacobian(f, values))
    return (rows * mt.tensor(weights).reshape(-1, 1)).sum(0).tolist()


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
