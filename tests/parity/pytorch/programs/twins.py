"""Programs that run on microtape and on PyTorch alike: each is given one of the modules."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np


class Numbers:
    """Tensors of one of the modules, the same for both."""

    def __init__(self, mt: Any, dtype: str = "float32", seed: int = 0) -> None:
        self._mt, self._dtype = mt, dtype
        self._random = np.random.default_rng(seed)

    def leaf(self, *shape: int) -> Any:
        """Normally distributed numbers that require grad."""
        return self.data(*shape).requires_grad_()

    def data(self, *shape: int) -> Any:
        """Normally distributed numbers."""
        return self._mt.tensor(self._random.standard_normal(shape).astype(self._dtype))


def a_network(mt, dtype="float32"):
    n = Numbers(mt, dtype)
    x, target = n.data(16, 8), n.data(16, 3)
    first, first_bias, second, second_bias = n.leaf(8, 32), n.leaf(32), n.leaf(32, 3), n.leaf(3)
    hidden = (x @ first + first_bias).tanh()
    loss = ((hidden @ second + second_bias - target) ** 2).mean()
    loss.backward()


def a_network_in_float64(mt):
    a_network(mt, "float64")


def a_training_loop(mt):
    n = Numbers(mt)
    x, target = n.data(16, 8), n.data(16, 1)
    weight, bias, last = n.leaf(8, 6), n.leaf(6), n.leaf(6, 1)
    for _ in range(4):
        loss = (mt.relu(x @ weight + bias) @ last - target).square().mean()
        loss.backward()
        with mt.no_grad():
            for one in (weight, bias, last):
                one -= 0.05 * one.grad
                one.grad = None


def broadcasting(mt):
    n = Numbers(mt)
    column, row, scalar = n.leaf(5, 1), n.leaf(1, 4), n.leaf()
    table = column * row + scalar / (row.exp() + 1)
    (table - column.expand(5, 4)).pow(2).sum().backward()


def views_and_writes(mt):
    n = Numbers(mt)
    x, y = n.leaf(4, 6), n.leaf(6)
    base = x.clone()
    base[0] = y
    base.view(2, 12)[1].mul_(2)
    turned = base.t()
    turned[1:3] += y[:4]
    part = base[:, ::2]
    part.sigmoid_()
    (turned.reshape(-1)[3:15].sum() + base.sum()).backward()


def reductions(mt):
    n = Numbers(mt, "float64")
    x = n.leaf(4, 5)
    largest, _ = x.max(dim=1)
    spread = x.std(dim=0) + x.var(dim=0, unbiased=False)
    parts = [
        x.mean(),
        x.amax(),
        largest.sum(),
        spread.sum(),
        x.norm(),
        x.logsumexp(dim=0).sum(),
        x.cumsum(dim=1).prod(),
    ]
    sum(parts).backward()


def indexing(mt):
    n = Numbers(mt)
    table, weights = n.leaf(7, 3), n.leaf(4)
    rows = mt.tensor([1, 5, 1, 0])
    taken = table[rows] * weights[:, None]
    picked = taken.gather(1, mt.tensor([[0], [2], [1], [1]]))
    spread = mt.zeros(7, 3).index_add(0, rows, taken)
    kept = table[table > 0]
    (picked.sum() + spread.square().sum() + kept.sum() + mt.where(table > 1, table, -table).sum()).backward()


def batched_products(mt):
    n = Numbers(mt)
    queries, keys, values = n.leaf(2, 3, 5, 4), n.leaf(2, 3, 6, 4), n.leaf(2, 3, 6, 4)
    scores = queries @ keys.transpose(-2, -1) / 4**0.5
    scores = scores.masked_fill(mt.ones(5, 6).triu(2).bool(), float("-inf"))
    attended = mt.softmax(scores, -1) @ values
    (attended * attended).sum((1, 2, 3)).mean().backward()


def an_einsum(mt):
    n = Numbers(mt)
    queries, keys = n.leaf(2, 3, 5, 4), n.leaf(2, 3, 5, 4)
    mt.einsum("bhij,bhij->b", queries, keys.tanh()).sum().backward()


def a_cross_entropy_by_hand(mt):
    n = Numbers(mt)
    features, weight = n.data(8, 5), n.leaf(5, 3)
    labels = mt.tensor([0, 2, 1, 1, 0, 2, 2, 1])
    logits = features @ weight
    shifted = logits - logits.detach().amax(dim=1, keepdim=True)
    log_probabilities = shifted - shifted.exp().sum(1, keepdim=True).log()
    loss = -log_probabilities[mt.arange(8), labels].mean()
    loss.backward()


def a_cross_entropy_of_the_library(mt):
    n = Numbers(mt)
    features, weight, bias = n.data(8, 5), n.leaf(3, 5), n.leaf(3)
    labels = mt.tensor([0, 2, 1, 1, 0, 2, 2, 1])
    f = mt.nn.functional
    f.cross_entropy(f.linear(features, weight, bias), labels).backward()


def second_derivatives(mt):
    n = Numbers(mt, "float64")
    x, y = n.leaf(3), n.leaf(3)
    energy = (x.sin() * y).sum() + (x * x * y).sum()
    first, other = mt.autograd.grad(energy, [x, y], create_graph=True)
    (first * first + other).sum().backward()


def a_gradient_penalty(mt):
    n = Numbers(mt, "float64")
    x, weight, last = n.leaf(6, 4), n.leaf(4, 5), n.leaf(5)
    score = (x @ weight).tanh() @ last
    (slope,) = mt.autograd.grad(score.sum(), x, create_graph=True)
    (score.mean() + ((slope.norm(dim=1) - 1) ** 2).mean()).backward()


def several_roots(mt):
    n = Numbers(mt)
    x, y = n.leaf(3), n.leaf(3)
    product, total = x * y, (x + y).exp()
    mt.autograd.backward([product, total.sum(), product], [mt.ones(3), None, mt.full((3,), 2.0)])


def hooks(mt):
    def halve(leaf):
        leaf.grad.mul_(0.5)

    n = Numbers(mt)
    x, w = n.leaf(4), n.leaf(4)
    hidden = x * w
    hidden.register_hook(lambda grad: grad.clamp(-0.5, 0.5))
    hidden.retain_grad()
    result = hidden.exp()
    result.grad_fn.register_prehook(lambda grads: (grads[0] * 3,))
    result.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_inputs[0] + 1,))
    w.register_hook(lambda grad: grad * 2)
    w.register_post_accumulate_grad_hook(halve)
    result.sum().backward()


def hooks_before_writes(mt):
    n = Numbers(mt)
    x = n.leaf(4)
    y = x * 3
    y.register_hook(lambda grad: grad * 2)
    y.relu_()
    y.register_hook(lambda grad: grad * 5)
    z = y * 1
    z.register_hook(lambda grad: grad * 7)
    z[:2].mul_(2)
    z.sum().backward()


def borders(mt):
    n = Numbers(mt)
    x, w = n.leaf(4), n.leaf(4)
    frozen = (x * 2).detach()
    with mt.no_grad():
        scale = (x * w).abs().amax()
    limit = float((x + w).sum())
    best = int((x * w).argmax())
    (x * frozen / scale + w[best] * limit).sum().backward()


def a_function(mt):
    class Swish(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, slope):
            gate = (x * slope).sigmoid()
            ctx.save_for_backward(x, gate)
            ctx.slope = slope
            return x * gate, gate

        @staticmethod
        def backward(ctx, grad, grad_gate):
            x, gate = ctx.saved_tensors
            inner = (grad * x + grad_gate) * gate * (1 - gate)
            return grad * gate + inner * ctx.slope, None

    n = Numbers(mt)
    x, w = n.leaf(5), n.leaf(5)
    activated, gate = Swish.apply(x * w, 1.5)
    (activated * w + gate).sum().backward()


def a_function_that_uses_more_than_its_arguments(mt):
    class Scaled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * w).sin() + hidden.sum()

        @staticmethod
        def backward(ctx, grad):
            return grad * w

    n = Numbers(mt)
    x, w, data = n.leaf(4), n.leaf(4), n.data(4)
    hidden = w * 2
    (Scaled.apply(x) * Scaled.apply(data) * x).sum().backward()


def a_checkpoint_of_data(mt):
    n = Numbers(mt)
    w, v, data = n.leaf(4), n.leaf(4), n.data(4)
    checkpoint = mt.utils.checkpoint.checkpoint
    hidden = checkpoint(lambda one: one * w, data, use_reentrant=True)
    (checkpoint(lambda one: one.exp() * w, hidden, use_reentrant=True) * v).sum().backward()


def a_function_that_writes_into_its_gradient(mt):
    class Tripled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            return grad.mul_(3)

    n = Numbers(mt)
    x, w = n.leaf(4), n.leaf(4)
    tripled = Tripled.apply(x * w)
    (tripled * 2 + tripled.sin()).sum().backward()


def two_passes_into_one_gradient(mt):
    n = Numbers(mt)
    weight = n.leaf(4, 2)
    for batch in (n.data(3, 4), n.data(5, 4)):
        (batch @ weight).square().mean().backward()


def a_kept_graph(mt):
    n = Numbers(mt)
    x = n.leaf(3)
    y = (x.exp() * x).sum()
    y.backward(retain_graph=True)
    y.backward(gradient=mt.tensor(0.5))


def some_inputs(mt):
    n = Numbers(mt)
    x, w = n.leaf(3), n.leaf(3)
    hidden = x * w
    hidden.retain_grad()
    result = (hidden.sin() * w).sum()
    result.backward(inputs=[w], retain_graph=True)
    mt.autograd.grad(result, [hidden, x])


def a_checkpoint(mt):
    n = Numbers(mt)
    x, w = n.leaf(4), n.leaf(4)
    checkpoint = mt.utils.checkpoint.checkpoint
    checkpoint(lambda one: (one * w).tanh() * w, x * 2, use_reentrant=False).sum().backward()


def a_checkpoint_that_runs_again_inside_of_backward(mt):
    n = Numbers(mt)
    x, w = n.leaf(4), n.leaf(4)
    checkpoint = mt.utils.checkpoint.checkpoint

    def block(one):
        hidden = one * w
        return hidden.tanh() * w

    def twice(one):
        inner = checkpoint(block, one.exp(), use_reentrant=True)
        return inner + one

    checkpoint(twice, checkpoint(block, x * 2, use_reentrant=True), use_reentrant=True).sum().backward()


def a_function_that_runs_its_forward_again(mt):
    class Again(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return (x * w).tanh()

        @staticmethod
        def backward(ctx, gradient):
            x, w = (one.detach().requires_grad_() for one in ctx.saved_tensors)
            with mt.enable_grad():
                hidden = x * w
                result = hidden.tanh()
            return mt.autograd.grad(result, (x, w), gradient)

    n = Numbers(mt)
    x, w = n.leaf(4), n.leaf(4)
    (Again.apply(x, w) * w).sum().backward()


def a_function_whose_backward_is_differentiated(mt):
    class Cube(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            slope = 3 * x * x
            return gradient * slope

    x = Numbers(mt).leaf(3)
    (first,) = mt.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    first.pow(2).sum().backward()


def an_overwritten_result(mt):
    n = Numbers(mt)
    x, w = n.leaf(3), n.leaf(3)
    result = (x * w).exp()
    squares = result * result
    result += 1
    with contextlib.suppress(RuntimeError):
        squares.sum().backward()


def a_second_pass_through_a_freed_graph(mt):
    n = Numbers(mt)
    x = n.leaf(3)
    y = (x.exp() * x).sum()
    y.backward()
    with contextlib.suppress(RuntimeError):
        y.backward()


def a_recurrence(mt):
    n = Numbers(mt)
    inputs, inner, outer = n.data(6, 3, 2), n.leaf(4, 4), n.leaf(2, 4)
    state = mt.zeros(3, 4)
    for step in range(6):
        state = (inputs[step] @ outer + state @ inner).tanh()
    state.square().sum().backward()


def a_normalisation(mt):
    n = Numbers(mt)
    x, gain, shift = n.leaf(6, 8), n.leaf(8), n.leaf(8)
    centred = x - x.mean(-1, keepdim=True)
    normal = centred * (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    mt.stack([normal * gain + shift, mt.cat([x, x])[:6]]).pow(2).sum(0).mean().backward()
