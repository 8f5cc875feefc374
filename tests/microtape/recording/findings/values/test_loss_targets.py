"""Targets that their loss is not made for are told, and only where the program cannot have wanted them."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

parity = pytest.mark.parity
engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=parity)])
PROGRAM = """\
import {engine} as torch
F, nn = torch.nn.functional, torch.nn
torch.manual_seed(0)
x, layer = torch.randn(6, 5), nn.Linear(5, 4)
scores = layer(x)
bits = (torch.randn(6, 4) > 0).float()
bits[0] = 1
bits[1] = 0
{lines}
loss.backward()
"""
BINARY = "loss = F.binary_cross_entropy_with_logits(scores, {})"
SOFT = "loss = F.cross_entropy(scores, {})"


def told(folder: Path, engine: str, lines: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, lines=lines))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.remedy for one in findings(recording) if one.kind == "target"]


@engines
@pytest.mark.parametrize(
    ("lines", "remedy"),
    [
        (BINARY.format("bits * 255"), "Divide it by 255"),
        (BINARY.format("bits * 2 - 1"), "Make the labels 0 and 1: (target + 1) / 2."),
        (BINARY.format("bits + 1"), "Make the labels 0 and 1: target - 1."),
        (BINARY.format("torch.arange(24.0).reshape(6, 4)"), "Give numbers of classes to cross_entropy"),
        (BINARY.format("3 * torch.ones(6, 4).cumsum(0) - 9.5"), "Scale it into 0 to 1"),
        (BINARY.format("bits * 255, pos_weight=torch.ones(6, 4)"), "Divide it by 255"),
        (BINARY.format("bits * 255, reduction='none'").replace("none')", "none').mean()"), "Divide it by 255"),
        (SOFT.format("bits"), "Use BCEWithLogitsLoss"),
        (SOFT.format("bits, weight=torch.ones(4)"), "Use BCEWithLogitsLoss"),
        ("loss = F.cross_entropy(scores[0], torch.tensor([1.0, 1.0, 0.0, 1.0]))", "Use BCEWithLogitsLoss"),
        ("loss = F.cross_entropy(nn.Conv1d(5, 4, 1)(x[:, :, None]), bits[:, :, None])", "Use BCEWithLogitsLoss"),
    ],
)
def test_a_target_that_a_loss_is_not_made_for(tmp_path: Path, engine: str, lines: str, remedy: str) -> None:
    (found,) = told(tmp_path, engine, lines)
    assert found.startswith(remedy)


@engines
@pytest.mark.parametrize(
    "lines",
    [
        BINARY.format("bits"),
        BINARY.format("0.7 * bits + 0.3 * bits.flip(0)"),
        BINARY.format("1.2 * bits - 0.1"),  # noise on labels
        BINARY.format("bits - (x[:, :4] > 1).float(), (x[:, :4] <= 1).float()"),  # weights leave some out
        "target = bits - 3 * (x[:, :4] > 1).float()\n"
        "losses = F.binary_cross_entropy_with_logits(scores, target, reduction='none')\n"
        "loss = (losses * (target >= 0)).mean()",
        "loss = F.mse_loss(scores, bits * 255)",
        SOFT.format("bits.argmax(1)"),
        SOFT.format("bits / bits.sum(1, keepdim=True).clamp(min=1)"),
        SOFT.format("F.one_hot(bits.argmax(1), 4).float()"),
        SOFT.format("F.one_hot(bits.argmax(1), 4).float(), label_smoothing=0.1"),
        SOFT.format("bits.argmax(1), label_smoothing=0.1"),
        SOFT.format("bits.argmax(1).clamp(min=1), label_smoothing=0.1, ignore_index=1"),
        SOFT.format("0.3 * F.one_hot(bits.argmax(1), 4) + 0.7 * F.one_hot(bits.argmin(1), 4)"),
        SOFT.format("2.0 * F.one_hot(bits.argmax(1), 4)"),  # weights of the examples
        "loss = F.cross_entropy(scores @ layer(x.flip(0)).T, torch.ones(6, 6))",  # pairs, with several partners
        "baskets = (x > 0).float()\nloss = F.cross_entropy(nn.Linear(4, 5)(layer(baskets).relu()), baskets)",
        "baskets = (x > 0).float()\nloss = F.cross_entropy(nn.Linear(4, 5)(layer(baskets / 2).relu()), baskets)",
        "loss = F.cross_entropy(nn.Linear(5, 1)(torch.randn(6, 4, 5)).squeeze(-1), bits)",  # members of a list
        "loss = -(F.log_softmax(scores, 1) * bits).sum(1).mean()",
    ],
)
def test_a_target_that_may_be_meant(tmp_path: Path, engine: str, lines: str) -> None:
    assert told(tmp_path, engine, lines) == []


SIGNED = {
    "cosine_embedding_loss": "scores, x[:, :4], {}",
    "margin_ranking_loss": "scores[:, 0], scores[:, 1], {}",
    "hinge_embedding_loss": "scores[:, 0], {}",
    "soft_margin_loss": "scores[:, 0], {}",
}


@parity
@pytest.mark.parametrize("loss", SIGNED)
@pytest.mark.parametrize("more", ["", ", reduction='sum'"])
def test_labels_0_and_1_for_1_and_minus_1(tmp_path: Path, loss: str, more: str) -> None:
    def of(label: str) -> list[str]:
        return told(tmp_path, "torch", f"loss = F.{loss}({SIGNED[loss].format(label)}{more})")

    assert len(of("bits[:, 2]")) == len(of("bits[:, 2].long()")) == 1
    assert not of("2 * bits[:, 2] - 1")
    assert not of("torch.ones(6)")
    assert not of("torch.tensor([1.0, 0, -1, 1, 0, -1])")


@parity
def test_labels_0_that_a_mask_leaves_out(tmp_path: Path) -> None:
    losses = "F.margin_ranking_loss(scores[:, 0], scores[:, 1], bits[:, 2], reduction='none')"
    assert not told(tmp_path, "torch", f"loss = ({losses} * bits[:, 2]).sum()")
    assert len(told(tmp_path, "torch", f"loss = {losses}.mean()")) == 1
    later = "loss = 0\nfor y in (bits[:, 2], -bits[:, 2]):\n"
    assert not told(tmp_path, "torch", f"{later}    loss = loss + F.margin_ranking_loss(scores[:, 0], scores[:, 1], y)")


@parity
@pytest.mark.parametrize(
    ("arguments", "is_told"),
    [
        ("words, times, lengths", False),  # what is 0 is padding
        ("words, times, lengths + 1", True),
        ("words, times, lengths, 3", True),
        ("words, times, lengths, blank=3, reduction='none'", True),
        ("words, times, lengths, blank=3, zero_infinity=True", True),
        ("torch.tensor([1, 2, 1, 3]), times, lengths", False),
        ("torch.tensor([1, 0, 1, 3]), times, lengths", True),
        ("torch.tensor([1, 0, 1, 3]), times, lengths, 2", False),
    ],
)
def test_a_letter_that_is_the_blank(tmp_path: Path, arguments: str, is_told: bool) -> None:
    lines = (
        "words, lengths, times = torch.tensor([[1, 2, 0], [1, 3, 0]]), torch.tensor([2, 2]), torch.tensor([6, 6])\n"
        "letters = layer(torch.randn(6, 2, 5)).log_softmax(2)\n"
        f"loss = F.ctc_loss(letters, {arguments}).sum()"
    )
    assert bool(told(tmp_path, "torch", lines)) == is_told
