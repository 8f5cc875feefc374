"""Only the first backward retains the graph. With three losses, the second frees what the third
needs.
"""


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for i, loss in enumerate(losses):
        x.grad = None
        loss(h).backward(retain_graph=i == 0 and len(losses) > 1)
        found.append(x.grad.item())
    return found
