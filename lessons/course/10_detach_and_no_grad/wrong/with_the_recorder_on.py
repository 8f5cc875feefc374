"""You write into a leaf while the recorder is on, and that is refused. Do it inside `with
mt.no_grad():`.
"""


def step(w, rate):
    w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target.detach()
    return gap * gap
