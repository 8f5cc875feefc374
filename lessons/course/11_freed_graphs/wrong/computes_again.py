"""You compute the shared part once for each loss. The gradients are right, but it is expensive:
call `shared` once.
"""


def gradients(x, shared, losses):
    found = []
    for loss in losses:
        x.grad = None
        h = shared(x)
        loss(h).backward()
        found.append(x.grad.item())
    return found
