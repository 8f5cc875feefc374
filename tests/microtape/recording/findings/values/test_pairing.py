"""A mean of log-probabilities that meets a weight for each of them is noticed; other means are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
START = """import {engine} as torch
torch.manual_seed(0)
w = torch.randn(3, 4, requires_grad=True)
scores = (torch.randn(6, 3) @ w).log_softmax(1)
chosen, returns, few = scores[:, 2], torch.rand(6), torch.rand(4)
"""


def found_in(folder: Path, engine: str, *lines: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text("\n".join([START.format(engine=engine), *lines, "loss.backward()"]))
    recording, _ = record_program(path)
    assert recording.error is None
    return [one for one in findings(recording) if one.kind == "broadcast"]


@engines
@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("loss = -(chosen.mean() * returns).sum()", "that mean: chosen * returns."),
        ("loss = (-chosen.sum() * returns).mean()", "that sum: chosen * returns."),
        ("both = returns * chosen.mean()\nloss = -both.sum()", "that mean: chosen * returns."),
        ("log_prob = -(w[0] ** 2)\nloss = -(log_prob.mean() * few).sum()", "that mean: log_prob * few."),
    ],
)
def test_one_mean_for_all_steps(tmp_path: Path, engine: str, written: str, remedy: str) -> None:
    (one,) = found_in(tmp_path, engine, written)
    assert one.severity == "notice"
    assert remedy in one.remedy


@engines
@pytest.mark.parametrize(
    "written",
    [
        "loss = -(chosen * returns).sum()",
        "loss = -chosen.mean() * returns.sum()",
        "loss = -(chosen.mean() * few).sum()",
        "loss = (chosen * chosen.mean()).sum()",
        "loss = (chosen - chosen.mean()).pow(2).sum()",
        "loss = (w[0].mean() * few).sum()",  # of no probability
        "loss = ((chosen.mean() * returns) ** 2).sum()",
    ],
)
def test_what_pairs_or_has_nothing_to_pair(tmp_path: Path, engine: str, written: str) -> None:
    assert found_in(tmp_path, engine, written) == []
