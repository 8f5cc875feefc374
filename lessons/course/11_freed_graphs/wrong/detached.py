"""You detach the shared part. Then no gradient can reach `x` from the losses."""


def gradients(x, shared, losses):
    h = shared(x).detach()
    found = []
    for i, loss in enumerate(losses):
        x.grad = None
        loss(h).backward(retain_graph=i < len(losses) - 1)
        found.append(x.grad.item())
    return found
