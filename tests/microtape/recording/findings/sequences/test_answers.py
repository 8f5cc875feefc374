"""Attention that sees the token which is asked for is told; where a mask or a bottleneck hides it, it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from microtape.recording.findings.finding import Finding
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as torch
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(3)
inf, text = float("inf"), torch.randint(0, 9, (4, 11))
heard, asked = text[:, :-1], text[:, 1:].clone()
words, other, head = nn.Embedding(9, 8), nn.Embedding(9, 8), nn.Linear(8, 9)
query, key, value = [nn.Linear(8, 8) for _ in range(3)]
ahead = torch.ones(10, 10).triu(1) == 1
e = words(heard)
q, k, v = query(e), key(e), value(e)
s = q @ k.transpose(1, 2) / 8**0.5
{program}
F.cross_entropy(head(y).transpose(1, 2), asked).backward()
"""
FUSED = "y = e + F.scaled_dot_product_attention(q, k, v{})"


def told(folder: Path, engine: str, program: str) -> list[Finding]:
    if engine == "torch":
        pytest.importorskip("torch", minversion="2.5", reason="before, no shapes are known inside of a call")
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, program=program))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one for one in findings(recording) if "very tokens" in one.headline]


@engines
@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        ("y = e + s.softmax(-1) @ v", "Fill in -inf above the diagonal"),
        ("y = s.softmax(-1) @ v", "Fill in -inf above the diagonal"),  # no way around attention
        ("y = e + (s + 0.0 * ahead).softmax(-1) @ v", "Fill in -inf above the diagonal"),
        ("y = e + s.masked_fill(torch.ones(10, 10).triu(2) == 1, -inf).softmax(-1) @ v", "Fill in -inf above"),
        (FUSED.format(""), "Pass is_causal=True."),
        (FUSED.format(", attn_mask=torch.ones(10, 10) == 1"), "Let the mask hide what lies ahead"),
        (FUSED.format(", torch.ones(10, 10) == 1"), "Let the mask hide what lies ahead"),
        (FUSED.format(", attn_mask=ahead"), "Let the mask hide what lies ahead"),  # True for what is hidden
        (FUSED.format(", attn_mask=None"), "Pass is_causal=True."),
        ("e = e + s.masked_fill(ahead, -inf).softmax(-1) @ v\ny = e + s.softmax(-1) @ value(e)", "Fill in -inf above"),
        ("y = e + torch.cat([s.softmax(-1) @ v[..., :4], s.softmax(-1) @ v[..., 4:]], -1)", "Fill in -inf above"),
        (  # the last scores are left out, instead of the last token
            "e = words(text)\ny = e + (query(e) @ key(e).transpose(1, 2)).softmax(-1) @ value(e)\ny = y[:, :-1]",
            "Fill in -inf above",
        ),
        ("asked[:2, 4:] = -100\ny = e + s.softmax(-1) @ v", "Fill in -inf above"),
    ],
)
def test_what_nothing_hides_is_told(tmp_path: Path, engine: str, program: str, remedy: str) -> None:
    (finding,) = told(tmp_path, engine, program)
    assert finding.remedy.startswith(remedy)


@engines
@pytest.mark.parametrize(
    "program",
    [
        "y = e + s.masked_fill(ahead, -inf).softmax(-1) @ v",
        "y = e + s.masked_fill(torch.ones(10, 10).triu(0) == 1, -1e9).softmax(-1) @ v",
        "w = s.softmax(-1) * ~ahead\ny = e + w / w.sum(-1, keepdim=True) @ v",  # masked afterwards
        FUSED.format(", is_causal=True"),
        FUSED.format(", attn_mask=~ahead"),
        FUSED.format(", attn_mask=torch.zeros(10, 10).masked_fill(ahead, -inf)"),
        # a given beginning is read both ways, and not asked for
        "asked[:, :5] = -100\nopen_ = ~ahead | (torch.arange(10) < 6)\n"
        "y = e + s.masked_fill(~open_, -inf).softmax(-1) @ v",
        # another sequence is attended to
        "source = other(text[:, :-1])\ny = e + (q @ key(source).transpose(1, 2)).softmax(-1) @ value(source)",
        # no features
        "y = e + s.masked_fill(ahead, -inf).softmax(-1) @ torch.cat([v, v[..., :0] * 2], -1)",
        # the whole sequence, through one vector
        "z = (s.softmax(-1) @ v).mean(1, keepdim=True)\ny = e + z",
        # the other examples at the same position
        "a, b, c = [one.transpose(0, 1) for one in (q, k, v)]\n"
        "y = e + ((a @ b.transpose(1, 2)).softmax(-1) @ c).transpose(0, 1)",
        # something else is asked for
        "asked = torch.randint(0, 9, (4, 10))\ny = e + s.softmax(-1) @ v",
        "asked = text[:, :-1].flip(1)\ny = e + s.softmax(-1) @ v",
    ],
)
def test_what_is_hidden_or_not_asked_for_is_not(tmp_path: Path, engine: str, program: str) -> None:
    assert told(tmp_path, engine, program) == []


@pytest.mark.parity
@pytest.mark.parametrize("mask", ["", "generate_square_subsequent_mask"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_layers_of_pytorch(tmp_path: Path, mask: str, first: bool, dropout: float) -> None:
    """Also where as many examples as positions, and as many heads as features of each, leave shapes ambiguous."""
    pytest.importorskip("torch", minversion="2.10", reason="before, a mask cannot be told from none inside of a call")
    given = f"mask=nn.Transformer.{mask}(10)" if mask else ""
    program = (
        f"layer = nn.TransformerEncoderLayer(8, 4, 16, dropout={dropout}, batch_first={first})\n"
        "e, asked = words(torch.cat([heard] * 3)[:10]), torch.cat([asked] * 3)[:10]\n"
        f"x = e if {first} else e.transpose(0, 1)\n"
        f"y = nn.TransformerEncoder(layer, 2)(x, {given})\n"
        f"y = y if {first} else y.transpose(0, 1)"
    )
    assert len(told(tmp_path, "torch", program)) == (not mask)
