"""Sums of two variables of which one was assigned to the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

PROGRAM = """\
import microtape as mt

w = mt.ones(3, requires_grad=True)


def together(a, b):
    return a + b


def step(x):
    {body}
    return y


step(w).sum().backward()
"""


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("x = x * 2; kept = x; y = x + kept", True),
        ("x = x * 2; kept = x; y = kept + x", True),
        ("kept = x; x = x * 2; x = kept; y = x + kept", True),
        ("kept = x; x = x * 2; y = x + kept", False),
        ("x = x * 2; y = x + x", False),
        ("x = x * 2; kept = x; y = x * kept", False),
        ("x = x * 2; kept = x.clone(); y = x + kept", False),
        ("x = x * 2; kept = x; y = together(x, kept)", False),
    ],
)
def test_a_sum_of_a_tensor_with_itself_under_another_name(body: str, is_told: bool, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(body="\n    ".join(body.split("; "))))
    recording, _ = record_program(path)
    found = [one for one in findings(recording) if one.kind == "no effect"]
    assert bool(found) == is_told
    for one in found:
        assert "adds a tensor to itself" in one.headline
        assert one.remedy == "Keep the earlier value: assign kept before x gets its new value." or "x = kept" in body
