"""All your hooks use the same name, the last: a function looks up `name` when it is called, and
by then the loop is over. Make each hook in a call of its own.
"""

# Hooks: one way to write it.
#
# Each hook has its own name, because a call of its own makes it. And no hook
# writes into the gradient that it receives.

import microtape as mt


def watch(named):
    seen = []

    for name, tensor in named.items():
        tensor.register_hook(lambda gradient: seen.append((name, gradient.tolist())))  # noqa: B023
    return seen


def clip(tensor, limit):
    return tensor.register_hook(lambda gradient: gradient.clamp(-limit, limit))


def reverse(x):
    same = x.clone()
    same.register_hook(lambda gradient: -gradient)
    return same
