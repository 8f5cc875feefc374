# Hooks: one way to write it.
#
# Each hook keeps its own name, because a separate call makes each hook. No hook
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
    return tensor.register_hook(lambda gradient: gradient.clamp(-limit, limit))


def reverse(x):
    same = x.clone()
    same.register_hook(lambda gradient: -gradient)
    return same


if __name__ == "__main__":
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    hidden = w * 3
    seen = watch({"w": w, "hidden": hidden})
    clip(hidden, 10.0)
    (hidden * hidden).sum().backward()
    print(seen)

    x = mt.tensor(2.0, requires_grad=True)
    (reverse(x) * 5).backward()
    print(x.grad)
