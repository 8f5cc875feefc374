"""Writes to expanded tensors that were refused: which line is named, and what to write there."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

PROGRAM = """\
import microtape as mt
from microtape import nn, optim

w, start = mt.ones(3, requires_grad=True), mt.ones(1)
{make}
{use}
"""
STEP = "(w * p).sum().backward(); optim.SGD([w, p], lr=0.1).step()"
BY_HAND = "(w * p).sum().backward()\nwith mt.no_grad():\n    for one in (p, w):\n        one -= 0.1 * one.grad"


def found(folder: Path, make: str, use: str) -> list[Finding]:
    """What is found in a program that makes a tensor, and writes to it."""
    script = folder / "script.py"
    script.write_text(PROGRAM.format(make=make, use=use))
    return list(findings(record_program(script)[0]))


@pytest.mark.parametrize(
    ("make", "use", "remedy"),
    [
        ("p = nn.Parameter(start.expand(3))", STEP, "start.expand(3).clone()."),
        ("p = start.expand(3).requires_grad_()", STEP, "start.expand(3).clone()."),
        ("p = nn.Parameter(start.expand(3))", BY_HAND, "start.expand(3).clone()."),
        ("p = nn.Parameter(start.expand_as(w))", STEP, "start.expand_as(w).clone()."),
        ("q = start.expand(3)", "w.sum().backward()\nq += 1", "start.expand(3).clone()."),
        ("q = start.expand(3)", "w.sum().backward()\nq.add_(1)", "start.expand(3).clone()."),
    ],
)
def test_the_line_that_expands_is_told_with_a_copy_for_it(tmp_path: Path, make: str, use: str, remedy: str) -> None:
    (finding,) = found(tmp_path, make, use)
    assert finding.kind == "refused"
    assert finding.headline.endswith("is expanded: its elements share their memory (script.py:5)")
    assert f"Give each a number of its own: {remedy}" in finding.remedy


def test_where_no_line_is_certain_that_of_the_write_is_told(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "def wide(x):\n    return x.expand(3)\nq = wide(start)", "w.sum().backward()\nq += 1")
    assert finding.place is not None
    assert finding.place.line == 9
    assert ".expand(...).clone()" in finding.remedy


@pytest.mark.parametrize(
    ("make", "use"),
    [
        ("p = nn.Parameter(start.expand(3).clone())", STEP),
        ("p = nn.Parameter(start)", "(w * p.expand(3)).sum().backward(); optim.SGD([w, p], lr=0.1).step()"),
        ("q = start.expand(3)", "w.sum().backward()\nq = q + 1"),
    ],
)
def test_copies_and_other_uses_are_right(tmp_path: Path, make: str, use: str) -> None:
    assert found(tmp_path, make, use) == []
