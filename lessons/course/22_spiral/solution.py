# A classifier, its training, and a look at its gradients: one way.
#
# Forward, clear the gradients, backward, descend: that is all of training.

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
        losses.append(loss.item())
    return losses


def sizes(layers):
    gradients = [weight.grad for weight, _ in layers]
    return [0.0 if one is None else one.abs().mean().item() for one in gradients]


if __name__ == "__main__":
    mt.manual_seed(0)
    points = mt.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    labels = mt.tensor([0, 1, 1, 0])  # are the two different?
    layers = []
    for n, m in ((2, 8), (8, 2)):
        weight = mt.randn(n, m).requires_grad_()
        bias = mt.zeros(m).requires_grad_()
        layers.append((weight, bias))
    losses = train(points, labels, layers, mt.tanh, 100, 0.5)
    print(f"{losses[0]:.2f} became {losses[-1]:.2f}")
    print([round(size, 4) for size in sizes(layers)])
