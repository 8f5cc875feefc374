"""You make as many rows as there are inputs. The table has one row for each result of f, and f may
have more results than inputs, or fewer.
"""

# The vector that you pass to backward: one way to write it.
#
# A row of the table is one more weighted sum: weight 1 for one result, 0 for
# the others.

import microtape as mt


def weighted(f, values, weights):
    x = mt.tensor(values, requires_grad=True)
    f(x).backward(gradient=mt.tensor(weights))
    return x.grad.tolist()


def jacobian(f, values):
    rows = []
    for i in range(len(values)):
        x = mt.tensor(values, requires_grad=True)
        y = f(x)
        one = mt.zeros(len(y))
        one[i % len(y)] = 1.0
        y.backward(gradient=one)
        rows.append(x.grad.tolist())
    return rows
