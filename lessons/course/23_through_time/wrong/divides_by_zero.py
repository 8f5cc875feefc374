"""If all gradients are 0, so is the length, and you divide by it."""

import microtape as mt


def clip(parameters, most):
    gradients = [one.grad for one in parameters if one.grad is not None]
    length = sum((one**2).sum().item() for one in gradients) ** 0.5
    factor = min(1.0, most / length)
    for one in gradients:
        one.mul_(factor)
    return length


def read(step, loss, h, letters, every):
    for number, letter in enumerate(letters, 1):
        h = step(h, letter)
        if number % every == 0 or number == len(letters):
            loss(h).backward()
            h = h.detach()
    return h
