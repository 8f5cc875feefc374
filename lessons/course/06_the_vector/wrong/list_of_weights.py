"""`backward` takes its weights as a tensor, and you pass a list: use `mt.tensor(weights)`."""

import microtape as mt


def weighted(f, values, weights):
    x = mt.tensor(values, requires_grad=True)
    f(x).backward(gradient=weights)
    return x.grad.tolist()


def jacobian(f, values):
    rows = []
    for i in range(len(f(mt.tensor(values)))):
        x = mt.tensor(values, requires_grad=True)
        y = f(x)
        one = [0.0] * len(y)
        one[i] = 1.0
        y.backward(gradient=one)
        rows.append(x.grad.tolist())
    return rows
