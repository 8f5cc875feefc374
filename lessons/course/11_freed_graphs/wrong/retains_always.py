"""The last backward retains the graph as well, although nothing needs it any more, so it stays in
memory. The last backward should free it.
"""


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for loss in losses:
        x.grad = None
        loss(h).backward(retain_graph=True)
        found.append(x.grad.item())
    return found
