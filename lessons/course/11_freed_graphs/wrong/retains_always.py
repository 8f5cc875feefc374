"""The last backward retains the graph as well, for nobody: it stays in memory. The last one should
free it.
"""


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for loss in losses:
        x.grad = None
        loss(h).backward(retain_graph=True)
        found.append(x.grad.item())
    return found
