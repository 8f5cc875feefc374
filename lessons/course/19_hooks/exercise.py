# Hooks.
#
# `watch` takes a dict of tensors and gives an empty list. Each
# backward then adds to it, for each tensor that it comes to, the
# pair (name, gradient as a list), in the order in which it comes.
#
#     w = mt.tensor([1.0, 2.0], requires_grad=True)
#     hidden = w * 3
#     seen = watch({"w": w, "hidden": hidden})
#     (hidden * hidden).sum().backward()
#     seen    [("hidden", [6.0, 12.0]), ("w", [18.0, 36.0])]
#
# `clip` cuts off each number of the gradient of a tensor at limit
# and at -limit, and gives the handle that takes the hook away
# again. Other tensors must not notice.
#
# `reverse` gives a tensor with the numbers of x. What comes back
# through it gets the other sign. Other uses of x stay as they are.
#
#     (reverse(x) * 5).backward()    x.grad is -5
#
# Complete all three.

import microtape as mt


def watch(named):
    raise NotImplementedError


def clip(tensor, limit):
    raise NotImplementedError


def reverse(x):
    raise NotImplementedError


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
