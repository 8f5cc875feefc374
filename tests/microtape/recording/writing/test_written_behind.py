"""Leaves that the program writes to without a new version: each pass shows what they were in it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from threading import Thread

import numpy as np
import pytest

import microtape as mt


def minus(w: mt.Tensor) -> None:
    w.data -= 0.1 * w.grad


def a_part(w: mt.Tensor) -> None:
    w.data[1:] = -1


def replaced(w: mt.Tensor) -> None:
    w.data = w.data - 0.1 * w.grad


def zeroed(w: mt.Tensor) -> None:
    w.data.zero_()


def by_detach(w: mt.Tensor) -> None:
    w.detach().mul_(3)


def counted(w: mt.Tensor) -> None:
    with mt.no_grad():
        w -= 0.1 * w.grad


@pytest.mark.parametrize("graph", ["its own", "retained"])
@pytest.mark.parametrize("way", [minus, a_part, replaced, zeroed, by_detach, counted])
def test_a_leaf_is_what_it_is_in_each_pass(way: Callable[[mt.Tensor], None], graph: str) -> None:
    w, x = mt.tensor([3.0, 4.0], requires_grad=True), mt.tensor([1.0, 2.0])
    were = []
    with mt.record() as recorder:
        other = (x * w).sum()  # of this graph, the second pass retains what the others use
        for number in range(3):
            if number:
                way(w)
            w.grad = None
            were.append(w.tolist())
            loss = (w * w * x).sum()
            if graph == "retained":
                other.backward(retain_graph=True)
            loss.backward()
    recording = recorder.recording
    assert recording.faults == ()
    squares = [step for one in recording.passes for step in one.steps if len(step.saved) == 2]
    assert [[np.asarray(one.value).tolist() for one in step.saved] for step in squares] == [[was, was] for was in were]


def test_an_update_that_replaces_a_leaf_is_noted_after_each_pass() -> None:
    w = mt.tensor([3.0, 4.0], requires_grad=True)
    with mt.record() as recorder:
        for _ in range(2):
            (w * w).sum().backward()
            w.data = w.data * 2
    assert [(one.passes, one.norm, one.change) for one in recorder.recording.updates] == [
        (1, 5.0, 5.0),
        (2, 10.0, 10.0),
    ]


@pytest.mark.parametrize("way", [minus, a_part, replaced, zeroed, by_detach, counted])
def test_a_leaf_that_a_hook_writes_to_is_what_it_is_in_each_pass(way: Callable[[mt.Tensor], None]) -> None:
    w, x = mt.tensor([3.0, 4.0], requires_grad=True), mt.tensor([1.0, 2.0])
    w.register_post_accumulate_grad_hook(way)
    were = [w.tolist()]
    with mt.record() as recorder:
        for _ in range(3):
            w.grad = None
            (w * w * x).sum().backward()
            were.append(w.tolist())
    recording = recorder.recording
    assert recording.faults == ()
    squares = [step for one in recording.passes for step in one.steps if len(step.saved) == 2]
    assert [[np.asarray(one.value).tolist() for one in step.saved] for step in squares] == [
        [was, was] for was in were[:-1]
    ]
    moved = [np.linalg.norm(np.subtract(now, was)) for was, now in pairwise(were)]
    assert [one.change for one in recording.updates] == pytest.approx([one for one in moved if one])


def test_another_thread_writes_to_a_leaf_while_a_pass_runs() -> None:
    """The pass stays whole: its segment ends after it."""

    def write(_: mt.Tensor) -> None:
        thread = Thread(target=lambda: w.data.mul_(2))
        thread.start()
        thread.join()

    w = mt.tensor([3.0, 4.0], requires_grad=True)
    with mt.record() as recorder:
        (w * w).sum().backward()
        loss = (w * 5).sum()
        loss.register_hook(write)
        loss.backward()
        (w * w).sum().backward()
    recording = recorder.recording
    assert recording.faults == ()
    assert [len(one.steps) for one in recording.passes] == [3, 3, 3]
    saved = [step.saved[0] for _, step in recording.steps() if len(step.saved) == 2]
    assert [np.asarray(one.value).tolist() for one in saved] == [[3.0, 4.0], [6.0, 8.0]]
