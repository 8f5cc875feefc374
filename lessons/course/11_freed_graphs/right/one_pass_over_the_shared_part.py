"""No pass is retained: each loss is gone back over to a copy of `h`, and the slope of the shared
part, found once, is multiplied in.
"""

import microtape as mt


def gradients(x, shared, losses):
    h = shared(x)
    x.grad = None
    h.backward()
    slope = x.grad.item()
    found = []
    for loss in losses:
        own = h.detach().requires_grad_()
        loss(own).backward()
        found.append(own.grad.item() * slope)
    return found
