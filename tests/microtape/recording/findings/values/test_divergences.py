"""Scores and swapped arguments of kl_div are told; logarithms, densities and products of one's own are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import {module}
F = {name}.nn.functional
{name}.manual_seed(0)
x = {name}.nn.Linear(5, 3)({name}.randn(8, 5))
log_q = F.log_softmax(x, dim=1)
p = {name}.randn(8, 3).softmax(dim=1)
loss = {loss}
loss.sum().backward()
"""
ENGINES = [("microtape as mt", "mt"), pytest.param("torch", "torch", marks=pytest.mark.parity)]
each_engine = pytest.mark.parametrize(("module", "name"), ENGINES)


def told(folder: Path, module: str, name: str, loss: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(module=module, name=name, loss=loss))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.headline for one in findings(recording)]


@each_engine
@pytest.mark.parametrize(
    ("loss", "headlines"),
    [
        ("F.kl_div(x, p)", ["kl_div at train.py:7 takes logarithms, but gets scores: x"]),
        ("F.kl_div(x, p, reduction='none')", ["kl_div at train.py:7 takes logarithms, but gets scores: x"]),
        ("F.kl_div(x, p.log(), log_target=True)", ["kl_div at train.py:7 takes logarithms, but gets scores: x"]),
        ("F.kl_div(p, log_q, log_target=True)", ["kl_div at train.py:7 takes logarithms, but gets probabilities: p"]),
        ("F.kl_div(log_q, p)", []),
        ("F.kl_div(log_q, p, reduction='batchmean')", []),
        ("F.kl_div(log_q, p.log(), log_target=True)", []),
        ("F.kl_div(p.log(), log_q.exp())", []),  # the other direction
        ("F.kl_div(x, 2 * p)", []),  # no probabilities: of densities, logarithms may be above 0
        ("p.exp() * (p - x)", []),
        ("p * (p.log() - x)", []),
    ],
)
def test_what_kl_div_takes(tmp_path: Path, module: str, name: str, loss: str, headlines: list[str]) -> None:
    assert told(tmp_path, module, name, loss) == headlines


@each_engine
def test_swapped_arguments_are_told_where_the_loss_is_nan(tmp_path: Path, module: str, name: str) -> None:
    (first,) = told(tmp_path, module, name, "F.kl_div(p, log_q)")
    assert first.endswith("swapped arguments")
    (first,) = told(tmp_path, module, name, "F.kl_div(log_q, p.log())")  # which lacks log_target=True
    assert not first.endswith("swapped arguments")
