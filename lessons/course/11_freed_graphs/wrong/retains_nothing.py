"""The first backward frees the shared part, and the second finds nothing there. Every backward but
the last needs `retain_graph=True`.
"""


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for loss in losses:
        x.grad = None
        loss(h).backward()
        found.append(x.grad.item())
    return found
