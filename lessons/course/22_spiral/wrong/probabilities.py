"""Your `scores` ends with a softmax. Return the scores as they are: `F.cross_entropy` computes the softmax itself."""

import microtape as mt
import microtape.nn.functional as F


def scores(points, layers, f):
    h = points
    for weight, bias in layers[:-1]:
        h = f(h @ weight + bias)
    weight, bias = layers[-1]
    return mt.softmax(h @ weight + bias, 1)


def train(points, labels, layers, f, steps, rate):
    parameters = [tensor for layer in layers for tensor in layer]
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(scores(points, layers, f), labels)
        for one in parameters:
            one.grad = None
        loss.backward()
        with mt.no_grad():
            for one in parameters:
                one -= rate * one.grad
        losses.append(loss.item())
    return losses


def sizes(layers):
    gradients = [weight.grad for weight, _ in layers]
    return [0.0 if one is None else one.abs().mean().item() for one in gradients]
