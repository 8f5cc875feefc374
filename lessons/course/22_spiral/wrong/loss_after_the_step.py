"""Your losses are those after each step. Return the loss from which the gradients of the step came."""

import microtape as mt
import microtape.nn.functional as F


def scores(points, layers, f):
    h = points
    for weight, bias in layers[:-1]:
        h = f(h @ weight + bias)
    weight, bias = layers[-1]
    return h @ weight + bias


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
        losses.append(F.cross_entropy(scores(points, layers, f), labels).item())
    return losses


def sizes(layers):
    gradients = [weight.grad for weight, _ in layers]
    return [0.0 if one is None else one.abs().mean().item() for one in gradients]
