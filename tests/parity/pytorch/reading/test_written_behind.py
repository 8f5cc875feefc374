"""Leaves that the program writes to without a new version: a later pass shows what they are then."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest


def minus(w):
    w.data -= 0.1 * w.grad.data


def a_part(w):
    w.data[1:] = -1


def copied(w):
    w.data.copy_(w.data * 2)


def replaced(w):
    w.data = w.data - 0.1 * w.grad


def zeroed(w):
    w.data.zero_()


def counted(w):
    import torch

    with torch.no_grad():
        w -= 0.1 * w.grad


def by_an_optimizer(w):
    import torch

    class Own(torch.optim.Optimizer):
        def step(self, closure=None):
            for one in self.param_groups[0]["params"]:
                one.data.add_(one.grad.data, alpha=-0.1)

    Own([w], {}).step()


WAYS = [minus, a_part, copied, replaced, zeroed, counted, by_an_optimizer]


@pytest.mark.parametrize("between", ["nothing", "seals", "forgets"])
@pytest.mark.parametrize("way", WAYS)
def test_a_leaf_is_what_it_is_in_each_pass(torch, way, between):
    from microtape.recording.pytorch.recorder import TorchRecorder

    w, x = torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([1.0, 2.0])
    were = []
    with TorchRecorder() as recorder:
        for number in range(3):
            if number:
                if between == "seals":
                    recorder.seal()
                elif between == "forgets":
                    recorder.begin_segment()
                    del recorder.segments[:-1]
                way(w)
            w.grad = None
            were.append(w.tolist())
            (w * w * x).sum().backward()
    recording = recorder.recording
    assert recording.faults == ()
    for found, was in zip(recording.passes, were[-1:] if between == "forgets" else were, strict=True):
        squared = next(step for step in found.steps if len(step.saved) == 2)
        assert [np.asarray(one.value).tolist() for one in squared.saved] == [was, was]


@pytest.mark.parametrize(
    ("kind", "way"),
    [*(("of the leaf", way) for way in WAYS), *(("of the loss", way) for way in WAYS if way is not counted)],
)
def test_a_leaf_that_a_hook_writes_to_is_what_it_is_in_each_pass(torch, kind, way):
    """As in LOMO, an optimiser that updates each parameter as soon as its gradient has come."""
    from microtape.recording.pytorch.recorder import TorchRecorder

    w, x = torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([1.0, 2.0])
    w.grad = torch.ones(2)
    if kind == "of the leaf":
        w.register_post_accumulate_grad_hook(way)
    were = [w.tolist()]
    with TorchRecorder() as recorder:
        for _ in range(3):
            loss = (w * w * x).sum()
            if kind == "of the loss":
                loss.register_hook(lambda _: way(w))
            loss.backward()
            were.append(w.tolist())
    recording = recorder.recording
    assert recording.faults == ()
    squares = [step for one in recording.passes for step in one.steps if len(step.saved) == 2]
    used = [recording.nodes[step.node].operands[0] for step in squares]
    assert [np.asarray(step.saved[0].value).tolist() for step in squares] == were[:-1]
    assert [np.asarray(recording.value(one.ref)).tolist() for one in used] == were[:-1]


def test_a_leaf_that_stays_keeps_its_copy(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    x, w = torch.randn(100, 100), torch.ones(100, requires_grad=True)
    with TorchRecorder() as recorder:
        for _ in range(3):
            (x @ w).sum().backward()
            spent = recorder.values.spent
            recorder.seal()
    assert recorder.values.spent == spent


def test_a_leaf_that_is_written_to_while_its_pass_runs_keeps_its_value_to_the_end(torch):
    import microtape

    w = torch.tensor([3.0, 4.0], requires_grad=True)

    def doubled(leaf):
        leaf.data *= 2

    w.register_post_accumulate_grad_hook(doubled)
    with microtape.record() as recorder:
        for _ in range(2):
            (w * w).sum().backward()
    first, second = recorder.recording.passes
    assert [np.asarray(one.value).tolist() for one in first.steps[1].saved] == [[3.0, 4.0]] * 2
    assert not second.has_failed


def received(w):
    """Write as another process does, of whose writes torch knows nothing."""
    numbers = (ctypes.c_float * w.numel()).from_address(w.data_ptr())
    numbers[:] = [2 * one for one in numbers]


@pytest.mark.parametrize("between", ["seals", "works together"])
def test_a_leaf_that_torch_has_not_seen_written_to_is_read_again(torch, between):
    from microtape.recording.pytorch.recorder import TorchRecorder

    w, large = torch.tensor([3.0, 4.0], requires_grad=True), torch.ones(20_000, requires_grad=True)
    were = []
    if between == "works together":
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        with TorchRecorder() as recorder:
            for _ in range(3):
                w.grad = large.grad = None
                were.append((w.tolist(), large[0].item()))
                loss = (w * w).sum() + (large * large).sum()
                loss.backward()
                if between == "seals":
                    recorder.seal()
                    assert len([*recorder.additions()]) == 1  # what it is now must not be taken for what it was
                else:
                    _ = (w.detach() + 1, large.detach() + 1)  # so that the values have been read
                received(w)
                received(large)
        recording = recorder.recording
    finally:
        if between == "works together":
            torch.distributed.destroy_process_group()
    assert recording.faults == ()
    nodes = [node for node in recording.nodes if node.op == "mul"]
    used = [recording.value(node.operands[0].ref) for node in nodes]
    assert [one.tolist() for one in used[::2]] == [was for was, _ in were]
    assert [one.max for one in used[1::2]] == [was for _, was in were]
