"""You write into a leaf while operations are recorded, which is an error. Do it inside `with
mt.no_grad():`.
"""


def step(w, rate):
    w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target.detach()
    return gap * gap
