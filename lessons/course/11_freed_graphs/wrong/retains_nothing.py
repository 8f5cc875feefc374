"""The first backward frees the shared part, and the second finds nothing there. All but the last
need `retain_graph=True`.
"""


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for loss in losses:
        x.grad = None
        loss(h).backward()
        found.append(x.grad.item())
    return found
