"""Targets are told that most often lie outside of what the prediction's last function gives; stray ones are not."""

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
x, noise, unit = torch.randn(40, 3), torch.randn(40, 1), torch.rand(40, 1)
z = nn.Linear(3, 1)(x)
{lines}
loss.backward()
"""


def told(folder: Path, engine: str, lines: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, lines=lines if "\n" in lines else f"loss = {lines}"))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.headline for one in findings(recording) if one.kind == "probabilities"]


@engines
@pytest.mark.parametrize(
    ("lines", "which"),
    [
        ("F.mse_loss(torch.sigmoid(z), 20 + 5 * noise)", "sigmoid"),
        ("F.mse_loss(torch.sigmoid(z), noise)", "sigmoid"),  # standardised
        ("F.smooth_l1_loss(torch.tanh(z).squeeze(1), 9 * noise.squeeze(1))", "tanh"),
        ("nn.HuberLoss()(nn.ReLU()(z), noise - 2)", "relu"),
        ("F.l1_loss(F.softplus(z), noise - 2)", "softplus"),
        ("F.mse_loss(torch.softmax(nn.Linear(3, 4)(x), 1), 10 * torch.randn(40, 4))", "softmax"),
        ("((torch.sigmoid(z) - (20 + noise)) ** 2).mean()", "sigmoid"),
        ("(20 + noise - torch.sigmoid(z)).square().sum()", "sigmoid"),
        ("(20 + noise - torch.sigmoid(z)).abs().mean()", "sigmoid"),
        ("loss = 0\nfor i in range(9):\n    loss = loss + F.mse_loss(torch.sigmoid(z[i]), 20 + noise[i])", "sigmoid"),
    ],
)
def test_targets_out_of_reach(tmp_path: Path, engine: str, lines: str, which: str) -> None:
    (found,) = told(tmp_path, engine, lines)
    assert which in found
    assert "train.py:" in found


@engines
@pytest.mark.parametrize(
    "lines",
    [
        "F.mse_loss(z, 20 + 5 * noise)",
        "F.mse_loss(torch.sigmoid(z), unit)",
        "F.mse_loss(torch.sigmoid(z), 0.7 + 0.5 * unit)",  # labels that are more than certain
        "F.mse_loss(torch.sigmoid(z), torch.where(unit > 0.1, unit, 1000.0 * unit + 50))",  # stray ones move the mean
        "F.mse_loss(40 * torch.sigmoid(z), 20 + 5 * noise)",
        "F.mse_loss(torch.tanh(z), noise)",
        "F.mse_loss(torch.relu(z), torch.relu(noise) + 0.1 * x[:, :1])",
        "F.mse_loss(torch.relu(z), noise)",
        "F.mse_loss(torch.sigmoid(z[:4]), 20 + noise[:4])",  # too few to tell
        "(torch.sigmoid(z) - 20.0).pow(2).mean()",  # one number
        "F.mse_loss(torch.sigmoid(z), 9 * nn.Linear(3, 1)(x))",  # which learns, too
        "(F.mse_loss(torch.sigmoid(z), unit.round() - 2, reduction='none') * (noise > 0)).sum()",  # a mask may follow
        "(-((20 + noise - torch.sigmoid(z)) ** 2) / 2).sum()",  # the logarithm of a density
        "((torch.tanh(z) - 3 * torch.randn(1, 9)) ** 2).sum()",  # distances to centres
        "(torch.sigmoid(z) - (20 + noise)).pow(3).mean()",
    ],
)
def test_what_is_meant_or_not_known(tmp_path: Path, engine: str, lines: str) -> None:
    assert told(tmp_path, engine, lines) == []
