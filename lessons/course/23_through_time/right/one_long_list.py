"""All gradients are joined into one long list, whose norm is the length. And `read` takes the
letters in chunks.
"""

import microtape as mt


def clip(parameters, most):
    gradients = [one.grad for one in parameters if one.grad is not None]
    length = mt.cat([one.flatten() for one in gradients]).norm().item()
    factor = min(1.0, most / length) if length else 1.0
    for one in gradients:
        one *= factor
    return length


def read(step, loss, h, letters, every):
    for begin in range(0, len(letters), every):
        for letter in letters[begin : begin + every]:
            h = step(h, letter)
        loss(h).backward()
        h = h.detach()
    return h
