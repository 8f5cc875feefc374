"""You scale the gradients to the length `most` even if they were shorter. A short gradient says
that the minimum is near: leave it as it is.
"""

import microtape as mt


def clip(parameters, most):
    gradients = [one.grad for one in parameters if one.grad is not None]
    length = sum((one**2).sum().item() for one in gradients) ** 0.5
    for one in gradients:
        one.mul_(most / max(length, 1e-12))
    return length


def read(step, loss, h, letters, every):
    for number, letter in enumerate(letters, 1):
        h = step(h, letter)
        if number % every == 0 or number == len(letters):
            loss(h).backward()
            h = h.detach()
    return h
