# Several losses over one shared part: one way to write it.
#
# Every backward but the last retains the graph, and the last one frees it.

import microtape as mt


def gradients(x, shared, losses):
    h = shared(x)
    found = []
    for i, loss in enumerate(losses):
        x.grad = None
        loss(h).backward(retain_graph=i < len(losses) - 1)
        found.append(x.grad.item())
    return found


if __name__ == "__main__":
    x = mt.tensor(2.0, requires_grad=True)
    losses = [lambda h: h * 3, lambda h: h * 5]
    print(gradients(x, lambda x: x * x, losses))
