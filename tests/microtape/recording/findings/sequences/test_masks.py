"""A mask of about 0 before a softmax is told where it leaves a weight; -inf and thresholds are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as torch
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
x, inf = torch.randn(3, 5, 4), float("inf")
ahead, diagonal = torch.ones(5, 5).triu(1) == 1, torch.eye(5) == 1
padding = torch.arange(5) >= torch.tensor([[5], [3], [2]])
s = nn.Linear(4, 4)(x) @ nn.Linear(4, 4)(x).transpose(1, 2)
w = {weights}
(w @ x).pow(2).sum().backward()
"""


def told(folder: Path, engine: str, weights: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, weights=weights))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.headline for one in findings(recording) if one.kind == "attention"]


@engines
@pytest.mark.parametrize(
    ("weights", "number"),
    [
        ("s.masked_fill(ahead, 1e-9).softmax(-1)", "1e-9"),
        ("s.masked_fill(ahead, -1e-9).softmax(-1)", "-1e-9"),
        ("F.softmax(s.masked_fill(ahead, 0), dim=2)", "0"),
        ("s.masked_fill(padding[:, None, :], 0).softmax(-1)", "0"),
        ("s.masked_fill(padding[:, :, None], 0).softmax(1)", "0"),
        ("s.masked_fill(diagonal, 0).softmax(-1)", "0"),
        ("torch.where(ahead, torch.zeros(5, 5), s).softmax(-1)", "0"),
        ("(torch.where(~ahead, s, 0.0) / 2).softmax(-1)", "0"),
        ("s.clone().masked_fill_(ahead, 0.0).softmax(-1)", "0"),
        ("s.index_put((padding,), torch.tensor(0.0)).softmax(1)", "0"),
        ("F.dropout(s.masked_fill(ahead, 0).softmax(-1), 0.2)", "0"),
    ],
)
def test_masks_of_zeros(tmp_path: Path, engine: str, weights: str, number: str) -> None:
    assert told(tmp_path, engine, weights) == [
        f"A mask of {number} hides nothing from softmax, which needs -inf: train.py:8"
    ]


@engines
@pytest.mark.parametrize(
    "weights",
    [
        "s.masked_fill(ahead, -inf).softmax(-1)",
        "s.masked_fill(ahead, -1e9).softmax(-1)",
        "s.masked_fill(ahead, -20.0).softmax(-1)",
        "s.masked_fill(ahead, 0).masked_fill(ahead, -inf).softmax(-1)",
        "s.masked_fill(ahead, -inf).masked_fill(padding[:, :, None], 0).softmax(-1)",  # for rows with nothing else
        "s.masked_fill(padding[:, :, None], 0).softmax(-1)",  # whole rows, of which nothing is read
        "s.masked_fill(torch.arange(5) == 0, 0).softmax(-1)",  # what the others are relative to
        "s.masked_fill(s < 0.3, 0).softmax(-1)",  # a threshold
        "torch.where(s.abs() > 0.3, s, 0.0).softmax(-1)",
        "s.masked_fill(ahead, -inf).softmax(-1).masked_fill(ahead, 0)",
        "s.masked_fill(ahead, 0).softmax(-1) * (~ahead).float()",  # to be divided by their sum
        "s.masked_fill(ahead, 0).sigmoid()",
        "(s + torch.zeros(5, 5).masked_fill(ahead, -inf)).softmax(-1)",
        "F.dropout(s, 0.3).softmax(-1)",
    ],
)
def test_what_is_right(tmp_path: Path, engine: str, weights: str) -> None:
    assert told(tmp_path, engine, weights) == []
