# A classifier, its training, and a look at its gradients.
#
# `layers` is a list of pairs (weight, bias).
#
# `scores(points, layers, f)`: each layer turns h into
# h @ weight + bias, and f follows every layer but the last.
#
# `train(points, labels, layers, f, steps, rate)`: descent. In each
# step, the loss is the cross-entropy of scores and labels, and each
# weight and bias moves by -rate · its gradient, in place. Return
# the losses, a list of Python numbers, one for each step. Gradients
# from before do not count; those of the last step stay in `.grad`.
#
# `sizes(layers)`: for each layer, the mean of the absolute values
# of its weight's gradient, as a Python number, or 0.0 if there is
# no gradient.

import microtape as mt
import microtape.nn.functional as F


def scores(points, layers, f):
    raise NotImplementedError


def train(points, labels, layers, f, steps, rate):
    raise NotImplementedError


def sizes(layers):
    raise NotImplementedError


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
