"""What a finding says of the passes before that in which NaN begins: nothing, where they were not looked at."""

from __future__ import annotations

from typing import Any

import pytest

import microtape as mt
from microtape.recording.findings import findings


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "Everything is finite before pass 3 of the program."),
        ({"until": "nan"}, "There is no NaN before pass 3 of the program."),
        ({"passes": "4"}, None),
        ({"every": 4}, None),
    ],
)
def test_passes_are_said_to_be_finite_only_if_they_were_looked_at(asked: dict[str, Any], said: str | None) -> None:
    w = mt.tensor([1.0], requires_grad=True)
    with mt.record(**asked) as recorder:
        for _ in range(4):
            w.grad = None
            w.log().sum().backward()
            with mt.no_grad():
                w -= 0.6
    (nan,) = [one for one in findings(recorder.recording) if one.kind == "nan"]
    assert [one for one in nan.explanation if "before pass" in one] == ([said] if said else [])
