"""Typical programs of courses, run on both libraries: they give the same numbers."""

import math

import numpy as np
import pytest

import microtape


def fitted_polynomial(mt):
    x = mt.linspace(-math.pi, math.pi, 200)
    a, b, c, d = (mt.randn((), requires_grad=True) for _ in range(4))
    for _ in range(20):
        loss = (a + b * x + c * x**2 + d * x**3 - mt.sin(x)).pow(2).sum()
        loss.backward()
        with mt.no_grad():
            for parameter in (a, b, c, d):
                parameter -= 1e-5 * parameter.grad
                parameter.grad = None
    return [loss, a, b, c, d]


def legendre_function(mt):
    class LegendrePolynomial3(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 0.5 * (5 * x**3 - 3 * x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 1.5 * (5 * x**2 - 1)

    x = mt.linspace(-3, 3, 50)
    c, d = mt.full((), 0.1, requires_grad=True), mt.full((), 0.3, requires_grad=True)
    loss = (LegendrePolynomial3.apply(c + d * x) - mt.sin(x)).pow(2).sum()
    loss.backward()
    return [loss, c.grad, d.grad]


def attention(mt):
    functional = mt.nn.functional
    batch, length, width, heads = 2, 5, 8, 2
    x = mt.randn(batch, length, width, requires_grad=True)
    weight = (mt.randn(3 * width, width) * 0.1).requires_grad_()
    parts = functional.linear(x, weight).split(width, dim=2)
    q, k, v = (part.view(batch, length, heads, width // heads).transpose(1, 2) for part in parts)
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(k.size(-1)))
    mask = mt.tril(mt.ones(length, length)).view(1, 1, length, length)
    shares = functional.softmax(scores.masked_fill(mask == 0, -math.inf), dim=-1)
    y = (shares @ v).transpose(1, 2).contiguous().view(batch, length, width)
    loss = functional.cross_entropy(y.reshape(-1, width), mt.randint(0, width, (batch * length,)))
    loss.backward()
    return [loss, x.grad, weight.grad]


def lstm(mt):
    inputs, hidden = 3, 4
    w, u = mt.randn(4 * hidden, inputs, requires_grad=True), mt.randn(4 * hidden, hidden, requires_grad=True)
    h, c = mt.zeros(1, hidden), mt.zeros(1, hidden)
    for _ in range(6):
        i, f, o, g = (mt.randn(1, inputs) @ w.T + h @ u.t()).chunk(4, 1)
        c = mt.sigmoid(f) * c + mt.sigmoid(i) * mt.tanh(g)
        h = mt.sigmoid(o) * c.tanh()
    h.pow(2).mean().backward()
    before = mt.nn.utils.clip_grad_norm_([w, u], 0.01)
    return [before, w.grad, u.grad]


def variational_autoencoder(mt):
    x = mt.rand(4, 10)
    encoder = mt.randn(10, 6).mul_(0.1).requires_grad_()
    decoder = mt.randn(3, 10).mul_(0.1).requires_grad_()
    mean, log_variance = (x @ encoder).chunk(2, dim=-1)
    z = mean + mt.exp(0.5 * log_variance) * mt.randn_like(mean)
    error = mt.nn.functional.binary_cross_entropy(mt.sigmoid(z @ decoder), x, reduction="sum")
    divergence = -0.5 * mt.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    (error + divergence).backward()
    return [error, divergence, encoder.grad, decoder.grad]


def q_learning(mt):
    values = mt.randn(5, 3, requires_grad=True)
    states, actions = mt.tensor([0, 1, 4]), mt.tensor([[1], [2], [0]])
    with mt.no_grad():
        target = values[states].max(1)[0] * 0.99 + 1
    loss = mt.nn.functional.smooth_l1_loss(values[states].gather(1, actions).squeeze(1), target)
    loss.backward()
    return [loss, values.grad]


def convolutional_network(mt):
    functional = mt.nn.functional
    x = mt.randn(2, 1, 12, 12)
    kernels = (mt.randn(4, 1, 3, 3) * 0.3).requires_grad_()
    weight = (mt.randn(10, 100) * 0.1).requires_grad_()
    h = functional.max_pool2d(functional.relu(functional.conv2d(x, kernels)), 2).flatten(1)
    scores = functional.log_softmax(functional.linear(h, weight), dim=1)
    loss = functional.nll_loss(scores, mt.tensor([3, 7]))
    loss.backward()
    return [loss, kernels.grad, weight.grad, scores.argmax(dim=1, keepdim=True)]


def newton_steps(mt):
    x = mt.tensor([1.5, -0.5], requires_grad=True)
    for _ in range(4):
        y = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        (slope,) = mt.autograd.grad(y, x, create_graph=True)
        curvature = mt.stack([mt.autograd.grad(one, x, retain_graph=True)[0] for one in slope])
        with mt.no_grad():
            x -= mt.linalg.solve(curvature, slope)
    return [x, curvature]


def gradient_penalty(mt):
    weight, x = mt.randn(3, 1, requires_grad=True), mt.randn(4, 3, requires_grad=True)
    scores = mt.tanh(x) @ weight
    (slope,) = mt.autograd.grad(scores, x, mt.ones_like(scores), create_graph=True)
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    penalty.backward()
    return [penalty, weight.grad]


def language_model(mt):
    table, w, v = mt.randn(27, 2), mt.randn(6, 20), mt.randn(20, 27)
    for parameter in (table, w, v):
        parameter.requires_grad = True
    x, y = mt.randint(0, 27, (32, 3)), mt.randint(0, 27, (32,))
    for _ in range(3):
        loss = mt.nn.functional.cross_entropy(mt.tanh(table[x].view(-1, 6) @ w) @ v, y)
        for parameter in (table, w, v):
            parameter.grad = None
        loss.backward()
        for parameter in (table, w, v):
            parameter.data += -0.1 * parameter.grad
    return [loss, table, w, v]


def batch_norm_by_hand_and_not(mt):
    x = mt.randn(6, 4, requires_grad=True)
    mean, variance = mt.zeros(4), mt.ones(4)
    y = mt.nn.functional.batch_norm(x, mean, variance, training=True)
    by_hand = (x - x.mean(0, keepdim=True)) / (x.var(0, keepdim=True, unbiased=False) + 1e-5).sqrt()
    ((y + by_hand) * mt.arange(24.0).view(6, 4)).sum().backward()
    return [y, by_hand, x.grad, mean, variance]


PROGRAMS = [
    fitted_polynomial,
    legendre_function,
    attention,
    lstm,
    variational_autoencoder,
    q_learning,
    convolutional_network,
    newton_steps,
    gradient_penalty,
    language_model,
    batch_norm_by_hand_and_not,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_a_course_gives_torchs_numbers(program):
    import torch

    results = []
    for mt in (torch, microtape):
        mt.manual_seed(1)
        results.append([tensor.detach().numpy() for tensor in program(mt)])
    for theirs, ours in zip(*results, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
