"""The engine calls the user's functions in torch's order, and the recording has the same calls."""

from __future__ import annotations

from typing import Any

import pytest

import microtape as mt
from tests.support.call_programs import PROGRAMS, Program


def plain(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(plain, result))
    return result.tolist() if hasattr(result, "tolist") else result


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_come_in_torchs_order(program: Program) -> None:
    import torch

    theirs: list[str] = []
    ours: list[str] = []
    expected = plain(program(torch, theirs))
    with mt.record() as recorder:
        result = plain(program(mt, ours))
    assert (result, ours) == (expected, theirs)
    recorded = [one.name for one in recorder.recording.calls]
    if program.__name__ == "with_a_checkpoint":  # the first run of the block is not a call by the engine
        recorded.insert(0, "block")
    assert recorded == theirs
