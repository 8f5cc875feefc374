"""A loss that counts the padding of the model's own embedding is told; what leaves it out, or has none, is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as torch
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(3)
text = torch.randint(1, 9, (4, 11))
for i, length in enumerate((11, 4, 6, 9)):
    text[i, length:] = 0
words, body, head = nn.Embedding(9, 8, padding_idx={padding}), nn.Linear(8, 8), nn.Linear(8, 9)
weight = torch.ones(9)
weight[0] = 0.0
given, asked = text[:, :-1], text[:, 1:]
scores = head(F.relu(body(words(given)))).transpose(1, 2)
{program}
"""


def told(folder: Path, engine: str, program: str, padding: int | None = 0) -> list[str]:
    if engine == "torch":
        pytest.importorskip("torch", minversion="2.5", reason="before, no shapes are known inside of a call")
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, program=program, padding=padding))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.headline for one in findings(recording) if "counts padding" in one.headline]


@engines
@pytest.mark.parametrize(
    "program",
    [
        "F.cross_entropy(scores, asked).backward()",
        "F.cross_entropy(scores, asked, reduction='sum').backward()",
        "F.nll_loss(scores.log_softmax(1), asked).backward()",
        "F.cross_entropy(scores, asked, weight=torch.ones(9)).backward()",
        "F.cross_entropy(scores, asked, ignore_index=8).backward()",
    ],
)
def test_padding_that_counts_is_told(tmp_path: Path, engine: str, program: str) -> None:
    (headline,) = told(tmp_path, engine, program)
    assert headline.startswith("The loss at train.py:12 counts padding: 11 of the ")


@engines
@pytest.mark.parametrize(
    "program",
    [
        "F.cross_entropy(scores, asked, ignore_index=0).backward()",
        "F.cross_entropy(scores, asked.masked_fill(asked == 0, -100)).backward()",
        "F.cross_entropy(scores, asked, weight=weight).backward()",
        "(F.cross_entropy(scores, asked, reduction='none') * (asked != 0)).sum().backward()",
        "F.cross_entropy(scores, torch.randint(0, 9, (4, 10))).backward()",  # another task
        # padding says that a sequence ends
        "asked = asked.masked_fill((asked == 0) & (given == 0), -100)\nF.cross_entropy(scores, asked).backward()",
    ],
)
def test_padding_that_does_not_count_is_not(tmp_path: Path, engine: str, program: str) -> None:
    assert told(tmp_path, engine, program) == []


@engines
def test_a_token_that_no_embedding_calls_padding_is_not(tmp_path: Path, engine: str) -> None:
    assert told(tmp_path, engine, "F.cross_entropy(scores, asked).backward()", None) == []
