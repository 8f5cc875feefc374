"""You retain the graph instead of cutting it: every backward goes all the way to the start, and the
memory grows with the text. Go on with `h.detach()`.
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
        if number % every == 0 or number == len(letters):
            loss(h).backward(retain_graph=True)
    return h
