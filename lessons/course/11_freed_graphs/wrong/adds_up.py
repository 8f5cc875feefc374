"""`x.grad` is not cleared between the losses, so each gradient contains the ones before it."""


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for i, loss in enumerate(losses):
        loss(h).backward(retain_graph=i < len(losses) - 1)
        found.append(x.grad.item())
    return found
