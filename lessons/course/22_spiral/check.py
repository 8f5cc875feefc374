import math

import microtape as mt


def scores(exercise):
    """The scores of three points, with two layers and tanh"""
    points, _, layers = _small()
    return exercise.scores(points, layers, mt.tanh).detach()


def one_layer(exercise):
    """The scores with a single layer: no function after it"""
    points, _, layers = _small()
    return exercise.scores(points, layers[:1], mt.relu).detach()


def losses(exercise):
    """The losses of four steps of training, at rate 0.5"""
    points, labels, layers = _small()
    return exercise.train(points, labels, layers, mt.tanh, 4, 0.5)


def trained(exercise):
    """The first weight and the last bias, after two steps at rate 0.25"""
    points, labels, layers = _small()
    exercise.train(points, labels, layers, mt.tanh, 2, 0.25)
    return {"weight": layers[0][0].detach(), "bias": layers[-1][1].detach()}


def still_leaves(exercise):
    """After training: are the tensors still leaves that require a gradient?"""
    points, labels, layers = _small()
    exercise.train(points, labels, layers, mt.tanh, 2, 0.25)
    return [one.is_leaf and one.requires_grad for layer in layers for one in layer]


def trained_before(exercise):
    """One step, when an old gradient is left over"""
    points, labels, layers = _small()
    layers[0][0].grad = mt.full((2, 3), 100.0)
    exercise.train(points, labels, layers, mt.tanh, 1, 0.25)
    return layers[0][0].detach()


def sizes(exercise):
    """The sizes when the gradients are [[1, -3]], None, and [[-0.5], [0.25]]"""
    first, second, third = mt.zeros(1, 2), mt.zeros(2, 2), mt.zeros(2, 1)
    first.grad, third.grad = mt.tensor([[1.0, -3.0]]), mt.tensor([[-0.5], [0.25]])
    return exercise.sizes([(one, mt.zeros(1)) for one in (first, second, third)])


def sizes_after_training(exercise):
    """The sizes after two steps of training: the gradients of the last step"""
    points, labels, layers = _small()
    exercise.train(points, labels, layers, mt.tanh, 2, 0.25)
    return exercise.sizes(layers)


def spiral(exercise):
    """The spiral of the text: 300 steps with two layers of tanh, starting from the same weights"""
    t = mt.linspace(0.2, 1.0, 20)
    arm = mt.stack([t * (2 * math.pi * t).cos(), t * (2 * math.pi * t).sin()], 1)
    points, labels = mt.cat([arm, -arm]), mt.cat([mt.zeros(20), mt.ones(20)]).long()
    generator = mt.Generator().manual_seed(0)
    layers = [
        (
            (mt.randn(n, m, generator=generator) / math.sqrt(n)).requires_grad_(),
            mt.zeros(m).requires_grad_(),
        )
        for n, m in ((2, 8), (8, 8), (8, 2))
    ]
    loss = exercise.train(points, labels, layers, mt.tanh, 300, 1.0)[-1]
    return "learned" if loss < 0.1 else f"not learned: the loss is {loss:.2f}"


def _small():
    points = mt.tensor([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0]])
    labels = mt.tensor([0, 1, 1])
    layers = [
        (mt.tensor([[0.5, -1.0, 0.25], [1.0, 0.5, -0.5]]), mt.tensor([0.1, -0.2, 0.3])),
        (mt.tensor([[1.0, -0.5], [0.25, 0.75], [-1.0, 0.5]]), mt.tensor([0.05, -0.05])),
    ]
    return points, labels, [(weight.requires_grad_(), bias.requires_grad_()) for weight, bias in layers]
