# Leaves: one way to write it.
#
# Compute first, and ask for gradients last.

import microtape as mt


def make_weight(values, scale):
    return mt.tensor([value * scale for value in values], requires_grad=True)


def gradient_in_the_middle(x):
    hidden = x * 3
    hidden.retain_grad()
    loss = (hidden * hidden).sum()
    loss.backward()
    return hidden.grad.tolist()


def why_none(tensor):
    if not tensor.requires_grad:
        return "requires no gradient"
    if not tensor.is_leaf and not tensor.retains_grad:
        return "is not a leaf"
    return "not reached"


if __name__ == "__main__":
    w = make_weight([1.0, 2.0], 0.1)
    print(w, w.is_leaf)
    print(gradient_in_the_middle(w))
    print(why_none(w * 2))
