"""You make `w` a tensor that requires no gradient, to be allowed to write into it. It must be a
leaf that requires one afterwards, or it will never be trained again.
"""


def step(w, rate):
    w.requires_grad_(False)
    w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target.detach()
    return gap * gap
