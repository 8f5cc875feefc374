"""No pass retains the graph: each loss has its own backward to a copy of `h`, and the derivative of
the shared part, computed once, is multiplied in.
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
