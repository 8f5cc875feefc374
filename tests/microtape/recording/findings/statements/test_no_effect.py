"""Statements of a training loop that do nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

_PROGRAM = """\
import microtape as mt
from microtape import nn, optim

model = nn.Linear(2, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
kept = []
for _ in range(2):
    optimizer.zero_grad()
    model(mt.ones(3, 2)).sum().backward()
    {statement}
    optimizer.step()
"""


def found(folder: Path, statement: str) -> list[Finding]:
    """The findings about statements without an effect, with this one behind backward."""
    script = folder / "script.py"
    script.write_text(_PROGRAM.format(statement=statement.replace("\n", "\n    ")))
    return [one for one in findings(record_program(script)[0]) if one.kind == "no effect"]


@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        ("optimizer.step", "Call it: optimizer.step()."),
        ("model.weight.grad.zero_", "Call it: model.weight.grad.zero_()."),
        ("if True:\n    model.train", "Call it: model.train()."),
        ("for p in model.parameters():\n    p = p - 0.1 * p.grad",
         "Write into the leaf, under no_grad: p -= 0.1 * p.grad."),
        ("for p in [model.weight]:\n    p = p.sub(p.grad)", "Write into the leaf, under no_grad: p -= lr * p.grad."),
        ("for name, p in model.named_parameters():\n    if p.grad is not None:\n        p = p - p.grad",
         "Write into the leaf, under no_grad: p -= p.grad."),
    ],
)  # fmt: skip
def test_a_statement_that_does_nothing_is_found(tmp_path: Path, statement: str, remedy: str) -> None:
    (finding,) = found(tmp_path, statement)
    assert finding.severity == "error"
    assert finding.remedy == remedy


@pytest.mark.parametrize(
    "statement",
    [
        "optimizer.step()", "step = optimizer.step", "model.weight", "print(model.train)",
        "for p in model.parameters():\n    p = p - 0.1 * p.grad\n    kept.append(p)",
        "for p in model.parameters():\n    q = p - 0.1 * p.grad",
        "for p in model.parameters():\n    p = p * 2",
        "with mt.no_grad():\n    for p in model.parameters():\n        p -= 0.1 * p.grad",
    ],
)  # fmt: skip
def test_other_statements_are_none(tmp_path: Path, statement: str) -> None:
    assert found(tmp_path, statement) == []
