"""f comes before every layer but the first, which computes the same. `grad` returns the gradients, so
there is nothing to clear; they are stored in `.grad` for `sizes`.
"""

import microtape as mt
import microtape.nn.functional as F


def scores(points, layers, f):
    h = points
    for number, (weight, bias) in enumerate(layers):
        if number > 0:
            h = f(h)
        h = mt.matmul(h, weight) + bias
    return h


def train(points, labels, layers, f, steps, rate):
    parameters = [*[weight for weight, _ in layers], *[bias for _, bias in layers]]
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(scores(points, layers, f), labels)
        gradients = mt.autograd.grad(loss, parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
            parameter.data -= rate * gradient
        losses.append(loss.item())
    return losses


def sizes(layers):
    found = []
    for weight, _ in layers:
        found.append(weight.grad.abs().mean().item() if weight.grad is not None else 0.0)
    return found
