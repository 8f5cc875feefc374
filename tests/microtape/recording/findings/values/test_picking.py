"""Labels that pick from all rows, or are taken for rows, are told; selections of rows and columns are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
START = """import {engine} as torch
torch.manual_seed(0)
w = torch.randn(3, 4, requires_grad=True)
p = (torch.randn(6, 3) @ w).softmax(1)
y, far, rows = torch.tensor([3, 0, 1, 1, 2, 0]), torch.tensor([5, 0, 1, 1, 2, 0]), torch.arange(6)
"""


def found_in(folder: Path, engine: str, *lines: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text("\n".join([START.format(engine=engine), *lines, "loss.backward()"]))
    recording, _ = record_program(path)
    assert recording.error is None
    return [one for one in findings(recording) if one.kind in ("broadcast", "batch dimension")]


@engines
@pytest.mark.parametrize(
    "written",
    [
        "loss = -torch.log(p[:, y]).mean()",
        "loss = -p.log()[:, y].sum() / len(y)",
        "loss = -(p[:, y] + 1e-8).log().mean()",
        "loss = -(torch.randn(6, 3) @ w).log_softmax(1)[:, y].mean()",
    ],
)
def test_all_labels_pick_from_all_rows(tmp_path: Path, engine: str, written: str) -> None:
    (one,) = found_in(tmp_path, engine, written)
    assert (one.kind, one.severity) == ("broadcast", "warning")
    assert "36 numbers" in one.explanation[0]
    assert "[range(len(y)), y]" in one.remedy


@engines
@pytest.mark.parametrize(
    "written",
    [
        "loss = -torch.log(p[range(6), y]).mean()",
        "loss = -torch.log(p[rows, y]).mean()",
        "loss = -torch.log(p[:, y]).diagonal().mean()",
        "loss = -(torch.log(p[:, y]) * torch.eye(6)).sum()",
        "loss = -torch.log(p[:, y[:4]]).mean()",
        "loss = -torch.log(p[:4][:, torch.tensor([3, 1, 0, 2])]).mean()",
        "order = torch.tensor([3, 1, 0, 2, 1, 1])[:4]\nloss = -torch.log(p[:4][:, order]).mean()",
        "loss = -torch.log_softmax(p[:, y], dim=1).mean()",
        "loss = p[:, y].pow(2).mean()",
    ],
)
def test_what_picks_on_purpose(tmp_path: Path, engine: str, written: str) -> None:
    assert found_in(tmp_path, engine, written) == []


@engines
def test_columns_that_are_taken_for_rows(tmp_path: Path, engine: str) -> None:
    (one,) = found_in(tmp_path, engine, "loss = p.gather(0, y.unsqueeze(1)).mean()")
    assert (one.kind, one.severity) == ("batch dimension", "warning")
    assert "all 6 results are of column 0, and of the first 4 rows" in one.explanation[1]


@engines
@pytest.mark.parametrize(
    "written",
    [
        "loss = p.gather(1, y.unsqueeze(1)).mean()",
        "loss = p.gather(0, far.unsqueeze(1)).mean()",
        "loss = p.gather(0, y.unsqueeze(1).expand(6, 4)).mean()",
        "loss = p.gather(0, y[:4].unsqueeze(1)).mean()",
        "loss = p.t().gather(0, y.unsqueeze(0)).mean()",
        "loss = sum(p.gather(0, one.unsqueeze(1)).mean() for one in (y, far))",
    ],
)
def test_rows_that_are_gathered(tmp_path: Path, engine: str, written: str) -> None:
    assert found_in(tmp_path, engine, written) == []
