"""Each of your rows contains the rows before it: every backward reaches the same leaf and adds to
its .grad. Make a new leaf for each row.
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
    x = mt.tensor(values, requires_grad=True)
    for i in range(len(f(mt.tensor(values)))):
        y = f(x)
        one = mt.zeros(len(y))
        one[i] = 1.0
        y.backward(gradient=one)
        rows.append(x.grad.tolist())
    return rows
