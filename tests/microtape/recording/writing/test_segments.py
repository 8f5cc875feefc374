"""Segments: a program recorded in parts, of which some may be forgotten, is the program recorded as a whole."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import microtape as mt
from microtape import load, save
from microtape.recording.model.model import Recording
from microtape.recording.writing.recorder import Recorder
from tests.support.recordings.random_recordings import plain

Program = Callable[[], None]


def training() -> None:
    w, x = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), mt.tensor([[1.0, -1.0]])
    for _ in range(4):
        with mt.scope("round"):
            hidden = (x @ w).tanh()
        loss = hidden.sum()
        w.grad = None
        loss.backward()
        with mt.no_grad():
            w -= 0.1 * w.grad


def alternating_leaves() -> None:
    a, b = (mt.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    for number in range(6):
        one, other = (a, b) if number % 2 else (b, a)
        (one * other.detach()).exp().sum().backward()


def a_shared_graph() -> None:
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    shared = w.exp()
    for number in range(4):
        (shared * number).sum().backward(retain_graph=True)


def second_derivatives() -> None:
    x = mt.tensor(2.0, requires_grad=True)
    for _ in range(3):
        (slope,) = mt.autograd.grad(x * x * x, x, create_graph=True)
        slope.backward()


def derivatives_along_a_part_of_a_network() -> None:
    mt.manual_seed(0)
    x = mt.tensor([[2.0]], requires_grad=True)
    network = mt.nn.Sequential(mt.nn.Linear(1, 2), mt.nn.ReLU(), mt.nn.Linear(2, 1))
    for _ in range(2):
        height = network(x)
        (slope,) = mt.autograd.grad(height.sum(), x, create_graph=True)
        slope.sum().backward()  # which reaches the weights and ReLU, but not what `height` is made of at last


def a_state_that_is_carried_on() -> None:
    w, state = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([0.0, 0.0])
    for _ in range(4):
        state = (state.detach() + w).sin()
        state.sum().backward()


def writes_in_place() -> None:
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        y = w * 2
        y += 1
        y[0] = 3.0
        (y * y).sum().backward()


SEPARATE = [alternating_leaves, a_state_that_is_carried_on, writes_in_place]
# Their checks need the call, which another segment has seen.
SHARED = [a_shared_graph, second_derivatives, derivatives_along_a_part_of_a_network]
BORDERS = [training]  # whose border's tensors come at the end of the whole recording, or at the end of their segment
PROGRAMS = [*SEPARATE, *SHARED, *BORDERS]


def recorded(program: Program, after_pass: Callable[[Recorder], None]) -> Recording:
    recorder = Recorder("segments", after_pass=lambda index: after_pass(recorder), check="all")
    with recorder:
        program()
    return recorder.recording


@pytest.mark.parametrize("program", [*SEPARATE, *SHARED])
def test_with_all_segments_it_is_the_recording_of_the_whole(program: Program) -> None:
    whole = recorded(program, lambda recorder: None)
    parts = recorded(program, Recorder.begin_segment)
    same: dict[str, Any] = {"freed_by": ()}
    assert plain(dataclasses.replace(parts, **same)) == plain(dataclasses.replace(whole, **same))


def forget_the_middle(recorder: Recorder) -> None:
    recorder.begin_segment()
    del recorder.segments[1:-2]


@pytest.mark.parametrize("program", PROGRAMS)
def test_without_some_segments_it_is_whole_all_the_same(program: Program, tmp_path: Any) -> None:
    whole = recorded(program, lambda recorder: None)
    parts = recorded(program, forget_the_middle)
    assert [one.index for one in parts.passes] == [0, whole.passes[-1].index]
    save(parts, tmp_path / "run.tape")
    loaded = load(tmp_path / "run.tape")  # which checks every number
    assert [step.grad_after for step in loaded.passes[-1].steps if step.grad_after is not None]
    assert [parts.nodes[step.node].name for step in parts.passes[-1].steps] == [
        whole.nodes[step.node].name for step in whole.passes[-1].steps
    ]
    leaf = whole.passes[0].steps[-1].node
    assert parts.nodes[leaf].variable == whole.nodes[leaf].variable, "what the first pass has seen keeps its numbers"


def test_what_is_forgotten_is_freed() -> None:
    seen: list[weakref.ref[Any]] = []

    def program() -> None:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(6):
            loss = (w * w).sum()
            assert loss.grad_fn is not None
            seen.append(weakref.ref(loss.grad_fn))
            loss.backward()

    recorder = Recorder("segments", after_pass=lambda index: forget_the_middle(recorder))
    with recorder:
        program()
    gc.collect()
    assert [one() is not None for one in seen] == [True, False, False, False, False, True]
    assert len(recorder.freed) == 2, "the product of each kept pass"


@pytest.mark.parametrize("after_pass", [Recorder.seal, lambda recorder: None])
def test_an_error_after_a_pass_names_what_that_pass_has_reached(after_pass: Callable[[Recorder], None]) -> None:
    recorder = Recorder(after_pass=lambda index: after_pass(recorder))

    def update(mine: mt.Tensor) -> None:
        raise ValueError("mine")

    with recorder:
        w = mt.tensor([1.0], requires_grad=True) * 2
        w.sum().backward()
        with pytest.raises(ValueError, match="mine") as caught:
            update(w)
        recorder.error_record(caught.value)
    assert [one.names for one in recorder.recording.tensors if not one.is_leaf] == [("w", "mine"), ()]
