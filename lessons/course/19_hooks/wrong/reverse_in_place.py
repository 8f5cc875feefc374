"""Your `reverse` writes into the gradient that it receives, and other nodes hold the same tensor. Return `-gradient`,
which is a new one.
"""

import microtape as mt


def watch(named):
    seen = []

    def note(name):
        return lambda gradient: seen.append((name, gradient.tolist()))

    for name, tensor in named.items():
        tensor.register_hook(note(name))
    return seen


def clip(tensor, limit):
    return tensor.register_hook(lambda gradient: gradient.clamp(-limit, limit))


def reverse(x):
    same = x.clone()
    same.register_hook(lambda gradient: gradient.neg_())
    return same
