"""Passes of PyTorch's in other threads are recorded, one at a time, and the program gets what it gets without us."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import microtape as mt

pytestmark = pytest.mark.parity


def in_threads(*works: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work, name=f"worker {number}") for number, work in enumerate(works)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def grads(recording: Any) -> list[float]:
    last = [[step.grad_after for step in one.steps if step.grad_after is not None] for one in recording.passes]
    return [float(values[-1].item()) for values in last]


def test_a_pass_in_a_thread_is_recorded_and_says_so(torch: Any) -> None:
    w = torch.tensor(1.0, requires_grad=True)
    with mt.record() as recorder:
        y = w * 2
        in_threads(y.backward)
        (w * 3).backward()
    assert grads(recorder.recording) == [2.0, 5.0]
    assert recorder.recording.notes == ("pass 1 ran in the thread worker 0",)
    assert [node.place is not None for node in recorder.recording.nodes if node.op == "mul"] == [True, True]


def test_only_the_thread_that_is_asked_for_is_recorded(torch: Any) -> None:
    def passes_of(thread: str) -> list[float]:
        w = torch.tensor(0.0, requires_grad=True)
        with mt.record(thread=thread) as recorder:
            (w * 1).backward()
            in_threads(lambda: (w * 10).backward())
            (w * 100).backward()
        assert w.grad.item() == 111.0
        return grads(recorder.recording)

    assert passes_of("main") == [1.0, 111.0]
    assert passes_of("worker 0") == [11.0]


def test_passes_at_once_on_a_shared_leaf_lose_no_gradient(torch: Any) -> None:
    w = torch.tensor(0.0, requires_grad=True)

    def work() -> None:
        for _ in range(25):
            (w * 1.0).backward()

    with mt.record() as recorder:
        in_threads(*[work] * 4)
    assert w.grad.item() == 100.0
    assert grads(recorder.recording) == [float(number) for number in range(1, 101)]


def test_a_journal_has_the_recording_so_far(torch: Any, tmp_path: Any) -> None:
    w, x = torch.ones(3, requires_grad=True), torch.ones(3)
    seen = []
    with mt.record(save=tmp_path / "run.tape") as recorder:
        for number in range(4):
            loss = (w * x).exp().sum()
            loss.backward(retain_graph=number == 1)
            with torch.no_grad():
                w -= 0.1 * w.grad
            seen.append(mt.load(tmp_path / "run.tape"))
    assert [len(one.passes) for one in seen] == [1, 2, 3, 4]
    whole = recorder.recording
    assert [one.name for one in seen[-1].nodes] == [one.name for one in whole.nodes]
    for so_far, finished in zip(seen[-1].passes, whole.passes, strict=True):
        for a, b in zip(so_far.steps, finished.steps, strict=True):
            assert [None if v is None else v.tobytes() for v in a.grad_outputs] == [
                None if v is None else v.tobytes() for v in b.grad_outputs
            ]
