"""You recognise the last loss by the function. The same function may stand in the list twice: then it is
freed too early. Count instead.
"""


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for loss in losses:
        x.grad = None
        loss(h).backward(retain_graph=loss is not losses[-1])
        found.append(x.grad.item())
    return found
