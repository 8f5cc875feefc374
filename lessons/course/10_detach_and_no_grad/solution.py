# Off the tape: one way to write it.
#
# no_grad to write into a weight, detach to cut one path.

import microtape as mt


def step(w, rate):
    with mt.no_grad():
        w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target.detach()
    return gap * gap


if __name__ == "__main__":
    w = mt.tensor(3.0, requires_grad=True)
    loss = loss_for(w * 4, w * w)
    loss.backward()
    print(w.grad)
    step(w, 0.1)
    print(w)
