"""The name is bound as a default value when the hook is made. To change the sign, it combines a
multiplication that the tape records with one that it does not.
"""

import microtape as mt


def watch(named):
    seen = []
    for name in named:

        def hook(gradient, name=name):
            seen.append((name, gradient.tolist()))

        named[name].register_hook(hook)
    return seen


def clip(tensor, limit):
    def hook(gradient):
        return mt.minimum(mt.maximum(gradient, mt.full_like(gradient, -limit)), mt.full_like(gradient, limit))

    return tensor.register_hook(hook)


def reverse(x):
    return 2 * x.detach() - x
