"""You clip each gradient by its own length. That changes the direction: measure all of them
together, and use one factor.
"""

import microtape as mt


def clip(parameters, most):
    gradients = [one.grad for one in parameters if one.grad is not None]
    length = sum((one**2).sum().item() for one in gradients) ** 0.5
    for one in gradients:
        if one.norm().item() > most:
            one.mul_(most / one.norm().item())
    return length


def read(step, loss, h, letters, every):
    for number, letter in enumerate(letters, 1):
        h = step(h, letter)
        if number % every == 0 or number == len(letters):
            loss(h).backward()
            h = h.detach()
    return h
