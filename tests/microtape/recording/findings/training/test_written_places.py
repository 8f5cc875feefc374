"""The line of an update that gives a leaf other memory, which no recorded write tells: `w.data = ...`."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

_START = """\
import microtape as mt

w, v = mt.ones(2, requires_grad=True), mt.ones(2)
"""
_LOOP = """\
for _ in range(3):
    ((w - 3) ** 2).sum().backward()
"""


def told(folder: Path, text: str) -> str:
    """Where the sum of all gradients is used, as the finding says it."""
    script = folder / "script.py"
    script.write_text(text)
    (finding,) = [one for one in findings(record_program(script)[0]) if one.kind == "accumulated"]
    return finding.explanation[1].partition(" uses it")[0]


@pytest.mark.parametrize(
    "update",
    [
        "w.data = w.data - 0.1 * w.grad",
        "for p in [w]:\n        p.data = p.data - 0.1 * p.grad",
        "g = w.grad\n    w.data = w.data - 0.1 * g\n    w.data = w.data.clamp(-1, 1)",
    ],
)
def test_it_is_the_first_assignment_behind_backward(tmp_path: Path, update: str) -> None:
    text = f"{_START}w.data = w.data / 2\n{_LOOP}    {update}\n"
    lines = text.split("\n")
    line = next(i for i in range(6, len(lines)) if ".data = " in lines[i]) + 1
    assert told(tmp_path, text) == f"The update at script.py:{line}"


def test_what_gives_others_memory_is_none(tmp_path: Path) -> None:
    text = f"{_START}{_LOOP}    setattr(w, 'data', w.data - 0.1 * w.grad)\n    v.data = w.data * 2\n"
    assert told(tmp_path, text) == "The update at a line that was not recorded"
