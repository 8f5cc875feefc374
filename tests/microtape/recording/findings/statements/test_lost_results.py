"""Results that a statement computes and keeps nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from microtape.recording.file.tape_file import load
from microtape.recording.findings import Finding, findings
from microtape.recording.script.run import record_script
from tests.programs.corpus import record_program

_PROGRAM = """\
import microtape as mt
from microtape import nn
from microtape.nn import functional as F

x = mt.ones(2, 3, requires_grad=True)
h = x * 2
kept = [set()]


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.tanh, self.inside = nn.Tanh(), nn.Linear(3, 3)
        self.relu = nn.ReLU()
        self.writing = nn.ReLU(inplace=True)
        self.chain = nn.Sequential(self.inside)

    def forward(self, h):
        {inside}
        return h * 3


part = Part()
{statement}
y = part(h).sum()
y.backward()
"""


def found(folder: Path, statement: str = "", inside: str = "") -> list[Finding]:
    """The findings about lost results with this statement between two others, or in forward."""
    script = folder / "script.py"
    script.write_text(_PROGRAM.format(statement=statement, inside=inside or "pass"))
    recording, _ = record_program(script)
    return [one for one in findings(recording) if one.kind == "no effect"]


@pytest.mark.parametrize(
    "statement",
    [
        "h.relu()", "h.clamp(min=0)", "h.masked_fill(x > 0, 1.0)", "h.detach()", "h.transpose(0, 1)", "mt.relu(h)",
        "F.dropout(h, 0.5)", "F.softmax(h, dim=-1)", "h.softmax(-1, dtype=mt.float64)",
        "for _ in range(2):\n    h.exp()\n    z = h + 1",
        "for _ in range(2):\n    z = h + 1\n    h.exp()",
        "if x.sum() > 0:\n    h.exp()\n    z = h + 1",
    ],
)  # fmt: skip
def test_a_result_that_no_variable_takes_is_lost(tmp_path: Path, statement: str) -> None:
    (finding,) = found(tmp_path, statement)
    assert finding.severity == "warning"
    assert "h stays as it was" in finding.headline
    assert " uses h as it was before." in finding.explanation[1]
    assert finding.remedy.startswith("Assign the result: h = ")


@pytest.mark.parametrize(
    "statement",
    [
        "h.relu_()", "F.relu(h, inplace=True)", "F.relu(h, True)", "mt.exp(h, out=mt.zeros(2, 3))", "print(h.exp())",
        "kept[0].add(h)", "z = h.exp()", "h.exp()\nh = x * 4", "h.exp().sum()", "h.sum()", "(h + 1).exp()",
        "part(h)", "part.chain(h)", "z = x * 3\nz.exp()", "if x.sum() > 0:\n    h.exp()", "h.retain_grad()",
        "x.data.clamp_(-1, 1)", "x.data.clone()",
    ],
)  # fmt: skip
def test_what_writes_in_place_is_kept_or_may_be_for_something_else_is_none(tmp_path: Path, statement: str) -> None:
    assert found(tmp_path, statement) == []


@pytest.mark.parametrize(
    ("inside", "lost"),
    [
        ("self.tanh(h)", False),  # two in one assignment: which is which is not looked at
        ("self.relu(h)", True), ("self.writing(h)", False), ("self.chain(h)", False), ("h = self.relu(h)", False),
        ("self.relu(h + 1)", False), ("h.add(1)", True), ("h.add_(1)", False),
        ("self.data = set()\n        self.data.add(h)", False),
    ],
)  # fmt: skip
def test_layers_of_a_module(tmp_path: Path, inside: str, lost: bool) -> None:
    assert len(found(tmp_path, inside=inside)) == lost


@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        ("x.data.clamp(-1, 1)", "Write in place: x.data.clamp_(-1, 1)."),
        ("for p in part.parameters():\n    p.data.mul(0.9)", "Write in place: p.data.mul_(0.9)."),
        ("if x.grad is not None:\n    x.grad.clamp(-1, 1)", "Write in place: x.grad.clamp_(-1, 1)."),
    ],
)  # fmt: skip
def test_what_is_computed_of_data_or_of_a_gradient_was_to_be_written(
    tmp_path: Path, statement: str, remedy: str
) -> None:
    (finding,) = found(tmp_path, statement)
    assert finding.severity == "warning"
    assert finding.remedy == remedy


def test_the_last_line_of_a_cell_shows_its_result(tmp_path: Path) -> None:

    cells = [
        "import microtape as mt\nx = mt.ones(2, requires_grad=True)\nh = x * 2",
        "h.exp()",
        "(h * 3).sum().backward()",
    ]
    book = {"cells": [{"cell_type": "code", "source": one} for one in cells], "nbformat": 4}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    record_script(tmp_path / "book.ipynb", out=tmp_path / "run.tape")
    assert findings(load(tmp_path / "run.tape")) == ()
