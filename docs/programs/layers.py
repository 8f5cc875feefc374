import math

import microtape as mt


def weights(rows, columns):
    wild = [math.sin(99.0 * k * k) for k in range(1, rows * columns + 1)]
    return mt.tensor(wild).reshape(rows, columns).requires_grad_()


x = weights(24, 10).detach()
W1, b1 = weights(10, 12), mt.zeros(12, requires_grad=True)
W2 = weights(12, 3)

hidden = (x @ W1 + b1).relu()
loss = ((hidden @ W2) ** 2).mean()
loss.backward()
