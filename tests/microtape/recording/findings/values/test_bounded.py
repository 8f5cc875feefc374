"""Scores that relu and the like bound are told where a loss of scores gets them as they are, and nowhere else."""

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
x, y = torch.randn(12, 6), torch.randint(0, 3, (12,))
z, likely = nn.Linear(6, 3)(x), torch.randint(0, 2, (12, 3)).float()
loss = {loss}
loss.backward()
"""


def told(folder: Path, engine: str, loss: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, loss=loss))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.headline for one in findings(recording) if one.kind == "probabilities"]


@engines
@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("F.cross_entropy(torch.relu(z), y)", "relu keeps the scores of cross_entropy at or above 0"),
        ("nn.CrossEntropyLoss()(nn.ReLU()(z), y)", "relu keeps the scores of cross_entropy at or above 0"),
        ("F.cross_entropy(F.dropout(z.relu(), 0.3), y)", "relu keeps the scores of cross_entropy at or above 0"),
        ("F.cross_entropy(z.relu().view(3, 4, 3).transpose(1, 2), y.view(3, 4))", "relu keeps the scores of cross_"),
        ("F.nll_loss(F.log_softmax(z.relu(), dim=1), y)", "relu keeps the scores of cross_entropy at or above 0"),
        ("F.cross_entropy(torch.tanh(z), y)", "tanh keeps the scores of cross_entropy between -1 and 1"),
        ("F.binary_cross_entropy_with_logits(z.relu(), likely)", "relu keeps the scores of bce_with_logits at or"),
        ("F.binary_cross_entropy_with_logits(z.tanh(), likely)", "tanh keeps the scores of bce_with_logits betw"),
        ("nn.BCEWithLogitsLoss()(F.softplus(z), likely)", "softplus keeps the scores of bce_with_logits at or"),
        ("nn.BCEWithLogitsLoss()(z.abs(), likely)", "abs keeps the scores of bce_with_logits at or above 0"),
    ],
)
def test_bounded_scores(tmp_path: Path, engine: str, loss: str, expected: str) -> None:
    (found,) = told(tmp_path, engine, loss)
    assert found.startswith(expected.replace("cross_entropy", "nll_loss") if "nll_loss(F.log" in loss else expected)


@engines
@pytest.mark.parametrize(
    "loss",
    [
        "F.cross_entropy(z, y)",
        "F.cross_entropy(nn.Linear(3, 3)(z.relu()), y)",
        "F.cross_entropy(10 * torch.tanh(z), y)",  # scores are often kept within such bounds
        "F.cross_entropy(F.dropout(torch.tanh(z), 0.5), y)",  # which makes them larger
        "F.cross_entropy(F.softplus(z), y)",  # only their differences count
        "F.cross_entropy(F.leaky_relu(z), y)",
        "F.cross_entropy(torch.relu(z + 100), y)",  # which leaves all as they are
        "F.cross_entropy(z.relu().view(3, 4, 3).mean(1), y[:3])",  # the mean of the maps of each class
        "F.cross_entropy(z.clamp(-5, 5), y)",
        "F.binary_cross_entropy_with_logits(z.relu() - 1, likely)",
        "F.log_softmax(z.relu(), dim=1).pow(2).mean()",  # no loss of classes
        "F.softmax(z.relu(), dim=1).pow(2).mean()",  # as of a learned graph
        "F.mse_loss(z.relu(), likely)",
    ],
)
def test_what_is_meant(tmp_path: Path, engine: str, loss: str) -> None:
    assert told(tmp_path, engine, loss) == []


@engines
def test_the_share_of_zeros_and_the_line_of_relu(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "train.py"
    lines = [
        f"import {engine} as torch",
        "w = torch.tensor([[1.0, -1.0, 2.0], [-1.0, -2.0, -3.0]], requires_grad=True)",
        "def network(w):",
        "    return (2 * w).relu()",
        "out = network(w)",
        "torch.nn.functional.cross_entropy(out, torch.tensor([0, 1])).backward()",
    ]
    path.write_text("\n".join(lines))
    recording, _ = record_program(path)
    (found,) = [one for one in findings(recording) if one.kind == "probabilities"]
    assert found.headline == "relu keeps out, the scores of cross_entropy, at or above 0: train.py:4"
    assert found.explanation[0] == "Of 6 scores, 4 are 0 (67%): relu gives nothing below."
    assert found.place is not None
    assert found.place.line == 4
    assert [place.line for role, place in found.others if role == "used"] == [6]
