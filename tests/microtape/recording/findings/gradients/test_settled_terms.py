"""A term of a loss that asks for nothing is a notice: it is at its minimum, or below the bound where it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as mt

mt.manual_seed(0)
w, b = mt.randn(3, requires_grad=True), mt.zeros((), requires_grad=True)
start = w.detach().clone()
for _ in range(2):
    x = mt.randn(8, 3)
    term = {term}
    loss = term + ((x @ start + b) ** 2).mean()
    loss.backward()
"""


def found(folder: Path, engine: str, term: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, term=term))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one for one in findings(recording) if one.kind == "zero gradient"]


@engines
@pytest.mark.parametrize(
    "term",
    [
        "mt.maximum((w**2).sum(), mt.tensor(50.0))",
        "mt.max((w**2).sum(), mt.tensor(50.0))",
        "(w**2).sum().clamp(min=50)",
        "-(w**2).sum().neg().clamp(max=-50)",
    ],
)
def test_a_number_below_the_bound_from_which_it_counts(tmp_path: Path, engine: str, term: str) -> None:
    (finding,) = found(tmp_path, engine, term)
    assert finding.severity == "notice"
    assert "50" in finding.headline
    assert "in its place" in "".join(finding.explanation)


@engines
def test_many_numbers_beyond_a_bound_are_no_term_of_a_loss(tmp_path: Path, engine: str) -> None:
    (finding,) = found(tmp_path, engine, "((x * w).clamp(min=50)).sum()")
    assert finding.severity == "warning"


@engines
@pytest.mark.parametrize("loss", ["mse_loss", "smooth_l1_loss", "huber_loss"])
def test_the_distance_from_where_it_begins(tmp_path: Path, engine: str, loss: str) -> None:
    (finding,) = found(tmp_path, engine, f"mt.nn.functional.{loss}(w * 1, start)")
    assert finding.severity == "notice"
    assert "compares what is equal" in "".join(finding.explanation)
