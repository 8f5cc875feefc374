"""Your clip does not give back the handle, so nobody can take the hook away: return what
`register_hook` returns.
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
    tensor.register_hook(lambda gradient: gradient.clamp(-limit, limit))


def reverse(x):
    same = x.clone()
    same.register_hook(lambda gradient: -gradient)
    return same
