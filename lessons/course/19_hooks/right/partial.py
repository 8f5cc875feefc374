"""functools.partial binds the name, and the copy is made by a multiplication with 1."""

# Hooks: one way to write it.
#
# Each hook has its own name, because a call of its own makes it. And no hook
# writes into the gradient that it receives.

from functools import partial


def watch(named):
    seen = []

    def note(name, gradient):
        seen.append((name, gradient.tolist()))

    for name, tensor in named.items():
        tensor.register_hook(partial(note, name))
    return seen


def clip(tensor, limit):
    return tensor.register_hook(lambda gradient: gradient.clamp(-limit, limit))


def reverse(x):
    same = x * 1
    same.register_hook(lambda gradient: gradient * -1)
    return same
