"""What a pass only notes while it runs: the records are made when somebody asks, and forgotten notes are gone."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from microtape.recording.model.summary import summarize


@pytest.fixture
def recorder():
    from microtape.recording.pytorch.recorder import TorchRecorder

    return TorchRecorder


@pytest.fixture
def uncollected():
    """No garbage collection: what only the collector would free stays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def step_of(torch):
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    optimizer, x = torch.optim.SGD(model.parameters(), 0.1), torch.randn(5, 4)

    def step():
        optimizer.zero_grad()
        model(x).pow(2).sum().backward()
        optimizer.step()

    return step


def test_a_forgotten_segment_needs_no_collector(torch, recorder, uncollected):
    step = step_of(torch)
    with recorder() as r:
        step()
        first = r.segments[-1]
        notes = [weakref.ref(one) for one in (first.reached, first.tape, first.updates, *first.passes)]
        nodes = [weakref.ref(one) for one in first.reached.entries if one.operation is not None]
        del first
        r.begin_segment()
        del r.segments[:-1]
        step()
    assert nodes
    assert not any(one() is not None for one in (*notes, *nodes))


def test_the_records_of_a_pass_are_made_when_somebody_asks(torch, recorder):
    step = step_of(torch)
    with recorder() as r:
        step()
        assert not r.tape.nodes
        assert [len(one.steps) for one in r.recording.passes] == [len(r.tape.nodes)]
        step()
    assert [one.index for one in r.recording.passes] == [0, 1]


def test_records_that_are_asked_for_at_any_time_are_those_of_the_end(torch, recorder):
    def run(asks):
        torch.manual_seed(0)
        step = step_of(torch)
        with recorder() as r:
            for _ in range(3):
                step()
                if asks:
                    assert r.recording.passes
        return r.recording

    often, once = run(True), run(False)
    for one, other in zip(often.nodes, once.nodes, strict=True):
        assert (one.name, one.edges, one.place, one.scope) == (other.name, other.edges, other.place, other.scope)
    assert {one.names for one in often.tensors} == {one.names for one in once.tensors}
    for one, other in zip(often.passes, once.passes, strict=True):
        assert (one.tape, one.nodes, one.ready, one.dependencies) == (
            other.tape, other.nodes, other.ready, other.dependencies,
        )  # fmt: skip
        for a, b in zip(one.steps, other.steps, strict=True):
            assert (a.node, len(a.deliveries)) == (b.node, len(b.deliveries))
            for x, y in zip(a.deliveries, b.deliveries, strict=True):
                assert x.total.tobytes() == y.total.tobytes()


def test_a_large_array_is_summarised_as_it_was(torch, recorder, monkeypatch):
    from microtape.recording.pytorch.reading import later

    made = []

    def counted(array):
        made.append(array.shape)
        return summarize(array)

    monkeypatch.setattr(later, "summarize", counted)
    w = torch.randn(200, 100, requires_grad=True)
    expected = summarize(w.detach().numpy().copy())
    with recorder() as r:
        (w * 2).sum().backward()
        assert not made
        with torch.no_grad():
            w.zero_()
    (leaf,) = [one for one in r.recording.tensors if "w" in one.names]
    assert leaf.values[0] == expected
    assert made


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("uses", [2, 3, 4])
def test_sums_are_rounded_as_torch_rounds_them(torch, recorder, dtype, uses):
    x = (torch.arange(1, 6) / 7).to(getattr(torch, dtype)).requires_grad_()
    with recorder() as r:
        y = x * 1
        sum(y * (k + 0.3) for k in range(uses)).sum().backward()
    (record,) = r.recording.passes
    product = next(one.id for one in r.recording.nodes if one.edges and one.edges[0].node == 0)
    into = [one for step in record.steps for one in step.deliveries if one.node == product]
    terms = [torch.from_numpy(np.array(one.term)).to(x.dtype) for one in into]
    total = terms[0]
    for one, term in zip(into[1:], terms[1:], strict=True):
        before, total = total, total + term
        assert one.before.tolist() == before.tolist()
        assert one.total.tolist() == total.tolist()
    assert len(into) == uses


def test_a_sum_of_a_failed_pass_that_numpy_cannot_add_is_unknown(torch, recorder):
    x = (torch.arange(1, 6) / 7).bfloat16().requires_grad_()

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise ValueError("no")

    with recorder() as r:
        y = Fails.apply(x)
        with pytest.raises(ValueError, match="no"):
            (y * 0.3 + y * 0.7).sum().backward()
    failed = r.recording.passes[0].steps[-1]
    into = [one for step in r.recording.passes[0].steps for one in step.deliveries if one.node == failed.node]
    assert len(into) == 2
    assert into[0].total is not None
    assert into[1].total is None
