"""Embeddings that are normalised along their positions are told; channels, images and a dim that is said are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import {module}
nn = {name}.nn
F = nn.functional
{name}.manual_seed(0)
data = {name}.randn(4, 6, 8)
h = {made}
loss = {loss}
loss.sum().backward()
"""
ENGINES = [("microtape as mt", "mt"), pytest.param("torch", "torch", marks=pytest.mark.parity)]
WORDS = "nn.Embedding(9, 8)((data > 0).sum(-1))"
NORM = "nn.LayerNorm(8)(data)"


@pytest.mark.parametrize(("module", "name"), ENGINES)
@pytest.mark.parametrize(
    ("made", "loss", "severities"),
    [
        (NORM, "F.normalize(h)", ["warning"]),
        (WORDS, "F.normalize(h)", ["warning"]),
        (f"nn.Linear(8, 5)({WORDS})", "F.cosine_similarity(h, h ** 2)", ["warning"]),
        ("nn.Linear(8, 5)(data)", "F.normalize(h)", []),  # of data whose last dimension may be anything
        (NORM, "F.normalize(h, dim=-1)", []),
        (NORM, "F.normalize(h, 2, 1)", []),
        (NORM, "F.normalize(h, dim=1)", []),
        (NORM, "F.normalize(h[:, 0])", []),
        (NORM, "F.normalize(h.transpose(1, 2))", []),
        ("nn.Linear(6, 5)(data.transpose(1, 2))", "F.normalize(h)", []),  # a layer over the positions
        ("nn.Conv1d(6, 5, 3)(data)", "F.normalize(h)", []),
        ("nn.Linear(8, 5)(data).reshape(4, 2, 3, 5)", "F.normalize(h)", []),
        (NORM, "h / h.norm(dim=1, keepdim=True)", []),
    ],
)
def test_along_the_positions(
    tmp_path: Path, module: str, name: str, made: str, loss: str, severities: list[str]
) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(module=module, name=name, made=made, loss=loss))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    assert [one.severity for one in findings(recording) if one.kind == "batch dimension"] == severities
