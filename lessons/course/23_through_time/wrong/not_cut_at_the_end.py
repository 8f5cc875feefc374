"""You do not cut after the last letter. The h that you return still has the graph behind it that backward has freed:
whoever reads on from it gets an error.
"""

import microtape as mt


def clip(parameters, most):
    gradients = [one.grad for one in parameters if one.grad is not None]
    length = sum((one**2).sum().item() for one in gradients) ** 0.5
    if length > most:
        for one in gradients:
            one.mul_(most / length)
    return length


def read(step, loss, h, letters, every):
    for number, letter in enumerate(letters, 1):
        h = step(h, letter)
        if number == len(letters):
            loss(h).backward()
        elif number % every == 0:
            loss(h).backward()
            h = h.detach()
    return h
