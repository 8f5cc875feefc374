"""No vector is passed to backward: the results are weighted and added up, so backward begins at a
single number.
"""

# The vector that you pass to backward: one way to write it.
#
# A row of the table is one more weighted sum: weight 1 for one result, 0 for
# the others.

import microtape as mt


def weighted(f, values, weights):
    x = mt.tensor(values, requires_grad=True)
    (f(x) * mt.tensor(weights)).sum().backward()
    return x.grad.tolist()


def jacobian(f, values):
    rows = []
    for i in range(len(f(mt.tensor(values)))):
        x = mt.tensor(values, requires_grad=True)
        y = f(x)
        y[i].backward()
        rows.append(x.grad.tolist())
    return rows
