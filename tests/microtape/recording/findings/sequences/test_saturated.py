"""Attention that is one-sided for want of a scale is told; a temperature, or products that are small, are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import {module}
{name}.manual_seed(0)
x = {name}.randn(2, 8, 64)
q, k, v = [{name}.nn.Linear(64, 64)({size} * x) for _ in range(3)]
hidden = {name}.ones(8, 8).triu(1) > 0
scores = {scores}
weights = {weights}
(weights @ v).sum().backward()
"""
ENGINES = [("microtape as mt", "mt"), pytest.param("torch", "torch", marks=pytest.mark.parity)]
SOFTMAX = "scores.softmax(dim=-1)"


@pytest.mark.parametrize(("module", "name"), ENGINES)
@pytest.mark.parametrize(
    ("size", "scores", "weights", "count"),
    [
        (1, "q @ k.transpose(-2, -1) * 8", SOFTMAX, 1),
        (1, "q @ k.transpose(-2, -1) / 0.125", SOFTMAX, 1),
        (1, "(q @ k.transpose(-2, -1) * 8).masked_fill(hidden, -1e9)", SOFTMAX, 1),
        (1, "(q @ k.transpose(-2, -1) * 8).masked_fill(hidden, float('-inf'))", SOFTMAX, 1),
        (1, "q @ k.transpose(-2, -1) / 8", SOFTMAX, 0),
        (1, "q @ k.transpose(-2, -1)", SOFTMAX, 0),  # as large as it is, several weights count
        (1, "q @ k.transpose(-2, -1) * 20", SOFTMAX, 0),  # a low temperature, which is meant
        (8, "q @ k.transpose(-2, -1) / 8", SOFTMAX, 0),  # large data, which no scale of a product explains
        (8, "q @ k.transpose(-2, -1)", SOFTMAX, 0),
        (1, "(q / 3) @ (k / 3).transpose(-2, -1) * 8", SOFTMAX, 0),
    ],
)
def test_scores_that_are_not_scaled(
    tmp_path: Path, module: str, name: str, size: int, scores: str, weights: str, count: int
) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(module=module, name=name, size=size, scores=scores, weights=weights))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    assert len([one for one in findings(recording) if one.kind == "attention"]) == count
