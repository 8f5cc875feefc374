"""Your clip writes into the gradient that it receives, and other nodes hold the same tensor.
`clamp`, without the underscore, makes a new one.
"""

# Hooks: one way to write it.
#
# Each hook has its own name, because a call of its own makes it. And no hook
# writes into the gradient that it receives.

import microtape as mt


def watch(named):
    seen = []

    def note(name):
        return lambda gradient: seen.append((name, gradient.tolist()))

    for name, tensor in named.items():
        tensor.register_hook(note(name))
    return seen


def clip(tensor, limit):
    return tensor.register_hook(lambda gradient: gradient.clamp_(-limit, limit))


def reverse(x):
    same = x.clone()
    same.register_hook(lambda gradient: -gradient)
    return same
