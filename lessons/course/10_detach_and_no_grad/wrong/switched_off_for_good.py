"""You switch off `requires_grad` of `w` to be allowed to write into it. Afterwards `w` must be a
leaf that requires a gradient, or it will never be trained again.
"""


def step(w, rate):
    w.requires_grad_(False)
    w -= rate * w.grad


def loss_for(guess, target):
    gap = guess - target.detach()
    return gap * gap
