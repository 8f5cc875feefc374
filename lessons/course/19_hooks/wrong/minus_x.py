"""You return -x. Its gradient has the other sign, but so have its numbers."""

# Hooks: one way to write it.
#
# Each hook has a name of its own, because it is made by a call of its own.
# And none of them writes into what it is handed.

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
    return -x
