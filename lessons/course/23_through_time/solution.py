# Clipping and cutting: one way to write it.
#
# One factor for all gradients keeps the direction. One cut after each
# backward keeps the steps in between on the tape.

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
            loss(h).backward()
            h = h.detach()
    return h


if __name__ == "__main__":
    weight = mt.tensor(3.0, requires_grad=True)

    def step(h, letter):
        return weight * h + letter

    h = read(step, lambda h: h, mt.tensor(1.0), [1.0, 2.0, 3.0], 2)
    print(h)
    print(clip([weight], 1.0), weight.grad)
