"""Work that is not done twice: arguments that a call gives back, views, gradients that nobody has written to."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def recorder():
    from microtape.recording.pytorch.recorder import TorchRecorder

    return TorchRecorder


def test_a_call_that_gives_its_argument_back_is_no_border(torch, recorder):
    from torch.nn.functional import dropout

    w = torch.randn(3, 3, requires_grad=True)
    with recorder() as r:
        x = w * 2
        for same in (
            x.contiguous(), x.float(), x.to(torch.float32), dropout(x, 0.0), dropout(x, 0.5, training=False),
        ):  # fmt: skip
            assert same is x
        x.exp().sum().backward()
    assert r.recording.borders == ()
    assert [node.name for node in r.recording.nodes] == [
        "AccumulateGrad", "MulBackward0", "ExpBackward0", "SumBackward0",
    ]  # fmt: skip


def test_a_constant_in_another_shape_is_no_border(torch, recorder):
    """As in `Normal(w, 1.0)`: what is returned beside the parameter depends on it in its shape only."""
    w = torch.randn(3, requires_grad=True)
    shaped = torch.zeros(3, 2)[:, :1]
    with recorder() as r:
        torch.distributions.Normal(w, 1.0).rsample().sum().backward()
        a, b = torch.broadcast_tensors(w, torch.ones(1))
        c, d = torch.broadcast_tensors(w.detach(), shaped)
        (a * b + c * d[0]).sum().backward()
    assert [one.op for one in r.recording.borders] == ["detach", "broadcast_tensors", "mul"]
    assert r.recording.tensors[r.recording.borders[1].outputs[0].tensor].names == ("c",)


def test_detach_in_place_is_a_border(torch, recorder):
    w = torch.randn(3, requires_grad=True)
    with recorder() as r:
        x = w * 2
        assert x.detach_() is x
        (x * w).sum().backward()
    assert [(one.kind, one.op, one.in_place) for one in r.recording.borders] == [("detach", "detach_", True)]
    assert [node.name for node in r.recording.nodes] == [
        "AccumulateGrad", "MulBackward0", "MulBackward0", "SumBackward0",
    ]  # fmt: skip


def test_a_graph_is_walked_once_however_often_it_is_left(torch, recorder, monkeypatch):
    """Each border leads to nodes outside of the graph, and from these to the next border."""
    from microtape.recording.pytorch import reached

    walked = []

    def walk(roots, tensors, known=None):
        graph = original(roots, tensors, known)
        walked.append(len(graph.nodes) - (len(known.nodes) if known is not None else 0))
        return graph

    original = reached.walk
    monkeypatch.setattr(reached, "walk", walk)
    w = torch.randn(3, requires_grad=True)
    kept = []
    with recorder() as r:
        x = w
        for _ in range(20):
            y = x * 2
            kept.append(y)  # so that its node lives
            x = y.detach() * w
        x.sum().backward()
    assert len(r.recording.nodes) == 42
    assert sum(walked) == 42


@pytest.mark.parametrize("shape", [(60_000,), (200, 300), (3, 200, 100)])
def test_a_view_of_a_large_tensor_shares_its_statistics(torch, recorder, monkeypatch, shape):
    from microtape.recording.pytorch.reading import values

    made = []

    def summarize(array):
        made.append(array.shape)
        return original(array)

    original = values.summarize
    monkeypatch.setattr(values, "summarize", summarize)
    w = torch.randn(300, 200, requires_grad=True)
    with recorder() as r:
        (w.view(shape) * 2).sum().backward()
    assert made.count((300, 200)) + made.count(shape) <= 4  # w, the product, its gradient, the gradient of the sum
    summaries = [one.values[0] for one in r.recording.tensors if len(one.shape) and one.values]
    assert {one.shape for one in summaries} >= {(300, 200), shape}


def test_a_weight_that_many_steps_use_through_a_view_is_copied_once(torch, recorder):
    w, x = torch.randn(60, 60, requires_grad=True), torch.randn(3, 60)
    with recorder() as r:
        y = x
        for _ in range(20):
            y = torch.tanh(y @ w.t())
        y.sum().backward()
    recording = r.recording
    weights = [value for one in recording.tensors if one.shape == (60, 60) for value in one.values.values()]
    assert len(weights) > 20
    assert all(np.shares_memory(one, weights[0]) for one in weights)
    sent = {
        recording.nodes[step.node].name: step.grad_inputs
        for step in recording.passes[0].steps
        if recording.nodes[step.node].name in ("MmBackward0", "TBackward0")
    }
    assert np.shares_memory(sent["MmBackward0"][1], sent["TBackward0"][0])
    for one in weights:
        assert np.array_equal(one, w.detach().numpy()) or np.array_equal(one, w.detach().numpy().T)


def test_gradients_that_a_callback_changes_after_the_pass_are_read_again(torch, recorder):
    from torch.autograd import Variable

    w = torch.ones(3, requires_grad=True)

    def halve():
        with torch.no_grad():
            w.grad.mul_(0.5)

    def hook(gradient):
        Variable._execution_engine.queue_callback(halve)

    w.register_hook(hook)
    with recorder() as r:
        (w * 4).sum().backward()
    last = r.recording.passes[0].steps[-1]
    assert w.grad.tolist() == [2, 2, 2]
    assert last.grad_after.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, w: w * 2,
        lambda torch, w: w.detach(),
        lambda torch, w: w.detach().add_(1),
        lambda torch, w: w.argmax(),
        lambda torch, w: w.sum().item(),
        lambda torch, w: w.detach() * 2,
        lambda torch, w: torch.split(w * 2, 1000),
        lambda torch, w: torch.zeros(50_000).copy_(w),
        lambda torch, w: (w * 2).register_hook(print),
    ],
)
def test_no_address_is_remembered_after_a_call(torch, recorder, monkeypatch, call):
    """Memory that a call has freed is used again: another tensor there must not be taken for the one before."""
    from microtape.recording.pytorch.reading.values import Values

    made = []

    class Watched(Values):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self)

    monkeypatch.setattr("microtape.recording.pytorch.recorder.Values", Watched)
    w = torch.randn(50_000, requires_grad=True)
    with recorder():
        call(torch, w)
        assert made
        assert not any(one._known or one._large for one in made)
        (w * 2).sum().backward()
        assert not any(one._known or one._large for one in made)
