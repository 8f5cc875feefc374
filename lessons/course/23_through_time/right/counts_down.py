"""The sum grows number by number, and a counter counts the letters since the last cut."""

import math


def clip(parameters, most):
    squares = 0.0
    for parameter in parameters:
        if parameter.grad is not None:
            squares += sum(number * number for number in parameter.grad.flatten().tolist())
    length = math.sqrt(squares)
    for parameter in parameters:
        if parameter.grad is not None and length > most:
            parameter.grad.div_(length / most)
    return length


def read(step, loss, h, letters, every):
    since = 0
    for letter in letters:
        h = step(h, letter)
        since += 1
        if since == every:
            loss(h).backward()
            h, since = h.detach(), 0
    if since:
        loss(h).backward()
    return h.detach()
