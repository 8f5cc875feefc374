"""Similarities with itself are told where they stay in a contrastive loss; hidden ones, and those of pairs, are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import {module}
F = {name}.nn.functional
{name}.manual_seed(0)
z = F.normalize({name}.nn.Linear(5, 6)({name}.randn(8, 5)), dim=1)
a, b = z[:4], z[4:]
eye = {name}.eye(8)
other = {name}.tensor([4, 5, 6, 7, 0, 1, 2, 3])
F.cross_entropy({scores}).backward()
"""
ENGINES = [("microtape as mt", "mt"), pytest.param("torch", "torch", marks=pytest.mark.parity)]


@pytest.mark.parametrize(("module", "name"), ENGINES)
@pytest.mark.parametrize(
    ("scores", "count"),
    [
        ("z @ z.T / 0.1, other", 1),
        ("10 * z @ z.T, other", 0),  # a product with something else, as far as its operands tell
        ("z @ z.transpose(0, 1) / 0.5, other", 1),
        ("(z @ z.T / 0.1).masked_fill(eye > 0, float('-inf')), other", 0),
        ("z @ z.T / 0.1 - 1e9 * eye, other", 0),
        ("(z - 0.5) @ z.T / 0.1, other", 0),
        ("a @ b.T / 0.1, other[4:]", 0),  # pairs: the diagonal is right
        ("z @ z.T / 0.1, other.sort()[0]", 0),
        ("z @ (0.5 * z.detach()).T, other", 0),
    ],
)
def test_the_diagonal(tmp_path: Path, module: str, name: str, scores: str, count: int) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(module=module, name=name, scores=scores))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    assert len([one for one in findings(recording) if one.kind == "target"]) == count
