"""Sums by indices that repeat: what is told, and what is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

PROGRAM = """\
import microtape as mt

mt.manual_seed(0)
w, v = mt.randn(5, 2, requires_grad=True), mt.randn(3, 2, requires_grad=True)
i = mt.tensor([0, 2, 2, 1, 2])
own, is_there = mt.tensor([2, 0, 1]), mt.tensor([True, False, True])
out = v * 1.0
{line}
out.square().sum().backward()
"""


def found(folder: Path, line: str) -> list[Finding]:
    """What is told of indices that repeat."""
    script = folder / "script.py"
    script.write_text(PROGRAM.format(line=line))
    return [one for one in findings(record_program(script)[0]) if one.headline.endswith("indices repeat")]


@pytest.mark.parametrize(
    ("line", "kept", "remedy"),
    [
        ("out[i] += w", 3, "out = out.index_put((i,), w, accumulate=True)."),
        ("out[i, :] += w", 3, "out = out.index_put((i,), w, accumulate=True)."),
        ("out[i] -= w", 3, "out = out.index_put((i,), -w, accumulate=True)."),
        ("out[i] -= w + 1", 3, "out = out.index_put((i,), -(w + 1), accumulate=True)."),
        ("out[i] = out[i] + w", 3, "out = out.index_put((i,), w, accumulate=True)."),
    ],
)
def test_a_sum_by_indices_that_repeat_loses_rows(tmp_path: Path, line: str, kept: int, remedy: str) -> None:
    (finding,) = found(tmp_path, line)
    assert f" adds {kept} of 5 rows: " in finding.headline
    assert finding.remedy.endswith(remedy)
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    "line",
    [
        "out[own] += w[:3]",  # each index once
        "out[is_there] += w[:2]",
        "out[i] = w",  # the last one may be meant
        "out[i] = 2 * w",
        "out[i] += 1",  # all of them are the same
        "out[i] += 2 * v[i]",
        "out[i] *= 0.5",
        "out = out.index_add(0, i, w)",
        "out = out.index_put((i,), w, accumulate=True)",
        "out[i, mt.arange(5) % 2] += w[:, 0]",
        "out[1] += w[0]",
        "out[1:] += w[:2]",
    ],
)
def test_other_writes_are_right(tmp_path: Path, line: str) -> None:
    assert found(tmp_path, line) == []


def test_a_line_is_told_once(tmp_path: Path) -> None:
    assert len(found(tmp_path, "for _ in range(3):\n    out = out.clone()\n    out[i] += w")) == 1
