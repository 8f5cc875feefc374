"""Your hook is on x, so it turns round what comes from all other uses as well. Leave it with a
copy that lies on this path alone.
"""

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
    same = x
    same.register_hook(lambda gradient: -gradient)
    return same
