"""You add the losses and call backward once. That is the best way to get the sum of the gradients,
but the exercise asks for each gradient by itself.
"""


def gradients(x, shared, losses):
    h = shared(x)
    total = sum(loss(h) for loss in losses)
    total.backward()
    return [x.grad.item()]
