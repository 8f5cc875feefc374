"""Heads made or joined by a reshape are told where rows are mixed, and only there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
START = """import {engine} as torch
from {engine} import nn
torch.manual_seed(0)
x, square = torch.randn(2, 6, 12), torch.randn(2, 4, 12)
layer, memory, wide = nn.Linear(12, 12), nn.Parameter(torch.randn(2, 6, 12)), nn.Linear(12, 72)
def attend(h):
    return (h @ h.transpose(-2, -1)).softmax(-1) @ h
"""


def found_in(folder: Path, engine: str, *lines: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text("\n".join([START.format(engine=engine), *lines, "(y * y).sum().backward()"]))
    recording, _ = record_program(path)
    assert recording.error is None
    return [one for one in findings(recording) if one.kind == "reshape"]


@engines
@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("y = attend(layer(x).view(2, 4, 6, 3))", ".view(2, 6, 4, 3).transpose(1, 2)"),
        ("y = attend(layer(x).reshape((2, 4, 6, -1)) * 0.5)", ".view(2, 6, 4, -1).transpose(1, 2)"),
        ("y = attend(layer(x).view(2, 6, 4, 3).view(2, 4, 6, 12 // 4))", ".view(2, 6, 4, 12 // 4).transpose(1, 2)"),
        ("y = attend(layer(x[0]).view(4, 6, 3))", ".view(6, 4, 3).transpose(0, 1)"),
        (
            "y = attend(layer(x).view(2, 6, 4, 3).transpose(1, 2)).reshape(2, 6, -1)",
            ".transpose(1, 2).reshape(2, 6, -1)",
        ),
        ("y = torch.stack([layer(x[0]), layer(x[1])]).view(6, 24)", ".transpose(0, 1).reshape(6, 24)"),
        ("y = nn.GRU(12, 5, bidirectional=True)(x)[1].view(6, 10)", ".transpose(0, 1).reshape(6, 10)"),
        ("y = nn.LSTM(12, 5, num_layers=2)(x)[1][0].view(6, 10)", ".transpose(0, 1).reshape(6, 10)"),
    ],
)
def test_rows_that_are_mixed(tmp_path: Path, engine: str, written: str, remedy: str) -> None:
    (one,) = found_in(tmp_path, engine, written)
    assert one.severity == "warning"
    assert one.place is not None
    assert remedy.partition("(")[2] in one.remedy


@engines
@pytest.mark.parametrize(
    "written",
    [
        "y = layer(x).view(2, 4, 6, 3)",  # of an image, say
        "y = layer(x).view(2, 4, 6, 3) @ nn.Parameter(torch.ones(3, 4))",
        "y = attend(layer(x).view(2, 6, 4, 3).transpose(1, 2)).transpose(1, 2).reshape(2, 6, 12)",
        "y = attend(layer(square).view(2, 4, 4, 3))",
        "y = attend(layer(x).view(2, 2, 3, 12))",
        "y = attend(memory.view(2, 4, 6, 3))",
        "y = attend(wide(x[:, 0]).view(2, 6, 12).view(2, 4, 6, 3))",
        "y = torch.stack([layer(x[0]), layer(x[1])]).view(2, 72)",
        "y = torch.stack([layer(x[0]), layer(x[1])], dim=1).view(6, 24)",
        "y = layer(x).view(6, 24)",
        "y = nn.GRU(12, 5, bidirectional=True)(x)[1].transpose(0, 1).reshape(6, 10)",
        "y = nn.GRU(12, 5, num_layers=2, bidirectional=True)(x)[1].view(2, 2, 6, 5)",
    ],
)
def test_rows_that_stay_together(tmp_path: Path, engine: str, written: str) -> None:
    assert found_in(tmp_path, engine, written) == []


def test_the_indices_are_those_of_numpy(tmp_path: Path) -> None:
    (one,) = found_in(tmp_path, "microtape", "y = attend(layer(x).view(2, 4, 6, 3))")
    numbers = np.arange(144).reshape(2, 6, 12)
    assert "[0, 1, 0, 0] of the result is [0, 1, 6] of what came in, not [0, 0, 3]." in one.explanation
    assert numbers.reshape(2, 4, 6, 3)[0, 1, 0, 0] == numbers[0, 1, 6]
    assert numbers.reshape(2, 6, 4, 3).swapaxes(1, 2)[0, 1, 0, 0] == numbers[0, 0, 3]
