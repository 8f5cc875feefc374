"""Facts about torch on which its recorder rests: hooks that only look change nothing, and how a pass fails with them.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import random

import pytest

from tests.parity.pytorch.watching import hooks, name, walk


def model(torch):
    """Six matrices and a loss that uses each of them in three ways."""
    torch.manual_seed(0)
    weights = [(torch.randn(20, 20) * 0.1).requires_grad_() for _ in range(6)]
    hidden = torch.randn(20, 20)
    for weight in weights:
        hidden = (hidden @ weight).tanh() + hidden * 0.5 + hidden.relu()
    return weights, (hidden * hidden).sum()


def counting_mode():
    """A mode that counts the operations of a pass, below autograd."""
    from collections import Counter

    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.count = Counter()

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.count[str(function)] += 1
            return function(*args, **(kwargs or {}))

    return Count()


def nothing(*told):
    """A hook that only looks."""


@pytest.mark.parametrize(("before", "after"), [(nothing, None), (None, nothing), (nothing, nothing)])
def test_hooks_that_only_look_change_neither_gradients_nor_strides_nor_operations(torch, before, after):
    plain_weights, plain_loss = model(torch)
    with counting_mode() as plain:
        plain_loss.backward()
    weights, loss = model(torch)
    with hooks(walk(loss.grad_fn)[0], before, after), counting_mode() as watched:
        loss.backward()
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(weights, plain_weights, strict=True))
    assert [one.grad.stride() for one in weights] == [one.grad.stride() for one in plain_weights]
    assert watched.count == plain.count


@pytest.mark.parametrize("holds", ["nothing", "the gradient", "a detached one", "an array"])
def test_the_gradient_that_arrives_becomes_grad_itself_unless_a_hook_holds_it(torch, holds):
    """NB: who holds a detached one or an array holds the memory of `.grad`, into which the next pass writes."""
    weights, loss = model(torch)
    arrived, held = {}, []

    def before(node, got):
        if hasattr(node, "variable"):
            arrived[node.variable] = got[0].data_ptr()
            held.extend({"nothing": [], "the gradient": [got[0]], "a detached one": [got[0].detach()],
                         "an array": [got[0].numpy()]}[holds])  # fmt: skip

    with hooks(walk(loss.grad_fn)[0], before, nothing):
        loss.backward()
    stolen = [one.grad.data_ptr() == arrived[one] for one in weights]
    assert stolen == [holds != "the gradient"] * 6


def test_a_held_array_of_a_gradient_is_overwritten_by_the_next_pass(torch):
    leaf, held = torch.ones(2, requires_grad=True), []
    y = leaf * 2
    loss = y.sum()
    with hooks([y.grad_fn.next_functions[0][0]], lambda node, got: held.append(got[0].numpy())):
        loss.backward(retain_graph=True)
    assert held[0].tolist() == [2, 2]
    loss.backward()
    assert held[0].tolist() == [4, 4]


def test_hooks_change_nothing_of_a_double_backward(torch):
    def second(look):
        leaf = torch.linspace(0.1, 1, 5, requires_grad=True)
        loss = (leaf.sin() ** 3).sum()
        with hooks(walk(loss.grad_fn)[0], look, look):
            (first,) = torch.autograd.grad(loss, leaf, create_graph=True)
        with hooks(walk(first.grad_fn)[0], look, look):
            return torch.autograd.grad(first.pow(2).sum(), leaf)[0]

    assert torch.equal(second(None), second(nothing))


def overwritten_program(torch, seed):
    """The loss of a random program that wrote into one of its tensors after it was saved, or perhaps not saved."""
    choose = random.Random(seed)
    pool = [torch.full((3,), 0.5, requires_grad=True) * 1]
    for _ in range(30):
        a, b = choose.choice(pool), choose.choice(pool)
        pool.append(choose.choice([lambda a=a, b=b: a * b, a.exp, lambda a=a, b=b: a + b])())
    loss = sum(one.sum() for one in pool)
    with torch.no_grad():
        choose.choice(pool[1:]).add_(1)
    return loss


def test_the_node_that_fails_is_the_ready_one_with_the_highest_sequence_number(torch):
    failures = 0
    for seed in range(30):
        loss = overwritten_program(torch, seed)
        nodes, left = walk(loss.grad_fn)
        started, ran = [], set()

        def after(node, made, got, left=left, ran=ran):
            ran.add(node)
            left.subtract(to for to, _ in node.next_functions if to is not None)

        with hooks(nodes, lambda node, got, started=started: started.append(node), after):
            try:
                loss.backward()
            except RuntimeError:
                failures += 1
                ready = [node for node in nodes if node not in ran and not left[node]]
                assert max(ready, key=lambda node: node._sequence_nr()) is started[-1]
    assert failures > 10


def test_the_text_of_an_error_is_the_same_with_hooks(torch):
    def error(look):
        y = torch.ones(3, requires_grad=True).exp()
        loss = y.sum()
        y += 1
        with hooks(walk(loss.grad_fn)[0], look, look), pytest.raises(RuntimeError) as caught:
            loss.backward()
        return str(caught.value)

    assert error(nothing) == error(None)


@pytest.mark.parametrize("gradient", ["wrong shape", "too many"])
def test_a_function_whose_gradient_does_not_fit_fails_before_its_post_hook(torch, gradient):
    class Misfit(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, got):
            return torch.ones(7) if gradient == "wrong shape" else (got, got)

    loss, ran = Misfit.apply(torch.ones(2, requires_grad=True)).sum(), []
    with (
        hooks(walk(loss.grad_fn)[0], after=lambda node, made, got: ran.append(name(node))),
        pytest.raises(RuntimeError, match="MisfitBackward"),
    ):
        loss.backward()
    assert ran == ["SumBackward0"]


@pytest.mark.filterwarnings("ignore:Anomaly Detection:UserWarning", "ignore:Error detected:UserWarning")
def test_anomaly_mode_looks_for_nan_after_the_post_hooks(torch):
    """NB: the node that fails has then run its post-hooks, which see the NaN, unlike in all other failures."""
    ran = []
    with torch.autograd.detect_anomaly():
        loss = (torch.ones(3, requires_grad=True) * 0).log().sum() * 0
        with (
            hooks(walk(loss.grad_fn)[0], after=lambda node, made, got: ran.append((name(node), str(made[0].tolist())))),
            pytest.raises(RuntimeError, match=r"^Function 'LogBackward0' returned nan values in its 0th output\.$"),
        ):
            loss.backward()
    assert ran[-1] == ("LogBackward0", "[nan, nan, nan]")
