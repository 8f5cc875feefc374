"""Terms of a loss that have lost their history: what is told, and what may be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

_PROGRAM = """\
import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model, other = nn.Linear(2, 2), nn.Linear(2, 2)
optimizer = optim.SGD([*model.parameters(), *other.parameters()], lr=0.1)
x, y = mt.randn(6, 2), mt.tensor([0, 1, 0, 1, 0, 1])
for turn in range(4):
    scores = model(x)
    error, side = nn.functional.cross_entropy(scores, y), other(x).square().mean()
    {statements}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def found(folder: Path, statements: str) -> list[Finding]:
    """The findings about terms of this loss."""
    script = folder / "script.py"
    script.write_text(_PROGRAM.format(statements=statements.replace("\n", "\n    ")))
    return [one for one in findings(record_program(script)[0]) if one.headline.startswith("A term of")]


@pytest.mark.parametrize(
    ("statements", "where"),
    [
        ("loss = error + 0.1 * (scores.argmax(1) != y).float().mean()", "argmax at script.py:11 has no derivative"),
        ("loss = error - (scores > 0).float().mean()", "the comparison at script.py:11 has no derivative"),
        ("loss = error + side + scores.round().abs().mean()", "round at script.py:11 is flat everywhere"),
        ("loss = error + sum(p.detach().square().sum() for p in model.parameters())",
         "detach() at script.py:11 cuts it off"),
        ("loss = error\nfor p in model.parameters():\n    loss = loss + p.data.norm()",
         ".data at script.py:13 cuts it off"),
        ("with mt.no_grad():\n    size = model.weight.norm()\nloss = (error + size) / 2",
         "no_grad at script.py:12 cuts it off"),
    ],
)  # fmt: skip
def test_a_term_without_a_history_is_told(tmp_path: Path, statements: str, where: str) -> None:
    (finding,) = found(tmp_path, statements)
    assert finding.severity == "warning"
    assert finding.headline == f"A term of loss is a constant: {where}"
    assert "model.weight" in finding.explanation[1]
    assert "changes no gradient" in finding.explanation[1]


@pytest.mark.parametrize(
    "statements",
    [
        "loss = error + scores.detach().relu().mean()",
        "with mt.no_grad():\n    size = other(x).norm()\nloss = error + side + size",
        "with mt.set_grad_enabled(turn > 9):\n    size = model.weight.norm()\nloss = error + size",
    ],
)
def test_a_term_that_may_be_meant_for_the_eye_is_a_notice(tmp_path: Path, statements: str) -> None:
    assert [one.severity for one in found(tmp_path, statements)] == ["notice"]


@pytest.mark.parametrize(
    "statements",
    [
        "hard = (scores.argmax(1) != y).float().mean()\nloss = error + (hard - error).detach() + side",
        "hard = (scores.argmax(1) != y).float().mean()\nloss = error + hard - error.detach()",
        "loss = error + (scores + (scores.round() - scores).detach()).square().mean()",
        "loss = error + (scores - scores.round()).square().mean()",
        "with mt.no_grad():\n    before = model(x).square().mean()\nloss = error - before",
        "loss = error + side + 0.1 * side.detach()",
        "right = (scores.argmax(1) == y).float()\nloss = error / (1 + right.sum()) + side",
        "ahead = 1 + model(x).detach().amax(1).mean()\nloss = (ahead - scores.amax(1).mean()) * (ahead - error)",
        "loss = error + (x > 0).float().mean()",
        "loss = error + side\nshown = loss + (scores > 0).float().mean()",
        "loss = error + model.weight.norm()",
    ],
)
def test_what_is_no_term_or_a_meant_constant_is_not_told(tmp_path: Path, statements: str) -> None:
    assert not found(tmp_path, statements)


def test_a_constant_of_some_passes_is_not_told(tmp_path: Path) -> None:
    assert not found(tmp_path, "size = model.weight.norm()\nloss = error + (size if turn else size.detach().square())")
    assert not found(
        tmp_path, "with mt.set_grad_enabled(turn > 1):\n    size = model.weight.norm()\nloss = error + size"
    )
    assert not found(tmp_path, "w = model.weight if turn else model.weight.detach()\nloss = error + w.norm()")
