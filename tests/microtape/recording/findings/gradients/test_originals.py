"""An optimiser of a module whose copies get all gradients is told; what hands over gradients, or has both, is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import copy

import {engine} as torch

torch.manual_seed(0)
start = torch.nn.Linear(3, 2)
other = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD({parameters}, lr=0.1)
{once}
for _ in range(3):
    optimizer.zero_grad()
    {each}
    loss = (local(torch.ones(4, 3)) + other(torch.ones(4, 3))).square().mean()
    loss.backward()
    {after}
    optimizer.step()
"""


def told(folder: Path, engine: str, **parts: str) -> list[str]:
    """The remedies of the errors about a leaf without gradient."""
    known = {"parameters": "start.parameters()", "once": "", "each": "local = copy.deepcopy(start)", "after": "pass"}
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, **{**known, **parts}))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.remedy for one in findings(recording) if one.kind == "no gradient" and one.severity == "error"]


@engines
def test_an_optimiser_of_the_original(tmp_path: Path, engine: str) -> None:
    (remedy,) = told(tmp_path, engine)
    assert "`for p, q in zip(start.parameters(), local.parameters()): p.grad = q.grad`" in remedy


@engines
@pytest.mark.parametrize(
    "parts",
    [
        {"after": "for p, q in zip(start.parameters(), local.parameters()): p.grad = q.grad"},
        {"after": "for p, q in zip(start.parameters(), local.parameters()): p.grad = p.data - q.data"},
        {"after": "for p, q in zip(start.parameters(), local.parameters()): setattr(p, 'grad', q.grad)"},
        {"parameters": "[*start.parameters(), *other.parameters()]"},  # it steps others, too
        {"once": "local = copy.deepcopy(start)", "each": "pass"},  # the optimiser may have been meant for the copy
        {"parameters": "other.parameters()"},
    ],
)
def test_others(tmp_path: Path, engine: str, parts: dict[str, str]) -> None:
    assert [one for one in told(tmp_path, engine, **parts) if "zip(" in one] == []
