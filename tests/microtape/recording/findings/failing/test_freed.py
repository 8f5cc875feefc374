"""What a pass carries into the next, whose graph is freed: the remedy names all of it, or backward fails again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import microtape as mt
from microtape.errors import AutogradError
from microtape.recording.findings import Finding, findings

CUTS = "Cut the old graph off where the next one begins: "
ONCE = ", or call backward once for all of it."


def as_it_is(one: Any) -> Any:
    return one


def in_a_tuple(lstm: Any, cut: Callable[[Any], Any]) -> None:
    state = None
    for _ in range(2):
        if state is not None:
            state = cut(state)
        y, state = lstm(mt.ones(4, 1, 2), state)
        y.sum().backward()


def apart(lstm: Any, cut: Callable[[Any], Any]) -> None:
    h, c = mt.zeros(1, 1, 3), mt.zeros(1, 1, 3)
    for _ in range(2):
        y, (h, c) = lstm(mt.ones(4, 1, 2), cut((h, c)))
        y.sum().backward()


def total(lstm: Any, cut: Callable[[Any], Any]) -> None:
    loss = mt.zeros(())
    for _ in range(2):
        (loss,) = cut((loss,))
        loss = loss + lstm(mt.ones(4, 1, 2))[0].exp().sum()
        loss.backward()


def freed(program: Callable[[Any, Callable[[Any], Any]], None], cut: Callable[[Any], Any]) -> list[Finding]:
    lstm = mt.nn.LSTM(2, 3)
    with mt.record() as recorder, contextlib.suppress(AutogradError):
        program(lstm, cut)
    return [one for one in findings(recorder.recording) if one.kind == "freed"]


@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        (in_a_tuple, "write `state = tuple(one.detach() for one in state)`"),
        (apart, "use h.detach() and c.detach()"),
        (total, "use loss.detach() (or .item() for a number to print or to add up)"),
    ],
)
def test_the_remedy_for_a_state_cuts_off_all_of_it(program: Any, remedy: str) -> None:
    (finding,) = freed(program, as_it_is)
    assert finding.remedy == f"{CUTS}{remedy}{ONCE}"
    assert ", as computed for pass 1, is part of both graphs; the backward of pass 1 at " in finding.explanation[0]
    assert freed(program, lambda state: tuple(one.detach() for one in state)) == []


@pytest.mark.parametrize("kept", [0, 1])
def test_half_of_a_state_cut_off_leaves_the_other(kept: int) -> None:
    (finding,) = freed(apart, lambda state: [one if i == kept else one.detach() for i, one in enumerate(state)])
    assert finding.remedy == f"{CUTS}use {'hc'[kept]}.detach(){ONCE}"
