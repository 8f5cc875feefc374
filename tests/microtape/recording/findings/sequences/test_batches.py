"""The dimension of a batch that is taken for that of time is told; a last state, a batch of one and others are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

parity = pytest.mark.parity
engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=parity)])
PROGRAM = """\
import {engine} as torch
nn = torch.nn


class LSTM(nn.LSTM):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        {used}


torch.manual_seed(0)
batch, time = 3, 5
for step in range(2):
    Net()(torch.randn({shape})).pow(2).sum().backward()
"""
ALONG_1 = (
    "h[:, -1]", "h[:, 0, :]", "h[:, 2].relu()", "h.mean(dim=1)", "h.mean(1)", "h.sum(dim=-2)", "torch.mean(h, 1)",
    "h.amax(dim=1)",
)  # fmt: skip
ALONG_0 = ("h[-1]", "h[0]", "h[1, :]", "h.mean(dim=0)", "h.sum(0)", "torch.sum(h, -3)")
CALLS = (
    "h, _ = self.rnn(x)\n        return {}",
    "h, last = self.rnn(x)\n        return ({})",
    "h = self.rnn(x)[0]\n        return {}",
    "return (lambda h: {})(self.rnn(x)[0])",  # its variable is not known
)


def told(folder: Path, engine: str, made: str, used: str, shape: str = "batch, time, 4") -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, made=made, used=used, shape=shape))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.headline for one in findings(recording) if one.kind == "batch dimension"]


@engines
@given(
    st.sampled_from(["LSTM", "GRU", "RNN"]),
    st.sampled_from([", batch_first=True", ", batch_first=False", "", ", 2, True, True", ", 2, bidirectional=True"]),
    st.sampled_from([(one, 1) for one in ALONG_1] + [(one, 0) for one in ALONG_0]),
    st.sampled_from(CALLS[:3]),
)
def test_the_output_of_a_recurrent_module(
    tmp_path_factory: pytest.TempPathFactory, engine: str, kind: str, options: str, taken: tuple[str, int], call: str
) -> None:
    expression, dimension = taken
    options = options.replace("True, True", "'tanh', True, True") if kind == "RNN" else options
    found = told(
        tmp_path_factory.mktemp("batch"), engine, f"self.rnn = nn.{kind}(4, 6{options})", call.format(expression)
    )
    batch = 0 if options.endswith("True, True") or "batch_first=True" in options else 1
    assert len(found) == (dimension == batch)


@engines
@pytest.mark.parametrize(
    ("made", "used", "shape"),
    [
        ("self.rnn = nn.LSTM(4, 6, 2, batch_first=True)", "h, (last, _) = self.rnn(x); return last[-1]", "3, 5, 4"),
        ("self.rnn = nn.GRU(4, 6, 2, batch_first=True)", "_, h = self.rnn(x); return h[-1]", "3, 5, 4"),
        ("self.rnn = nn.GRU(4, 6, 2, batch_first=True)", "return self.rnn(x)[1][-1]", "3, 5, 4"),
        ("self.rnn = nn.LSTM(4, 6)", "h, _ = self.rnn(x); return h[:, -1]", "5, 1, 4"),  # a batch of one
        ("self.rnn = nn.LSTM(4, 6)", "h, _ = self.rnn(x); return h[:, 1:]", "5, 3, 4"),
        ("self.rnn = nn.LSTM(4, 6)", "h, _ = self.rnn(x); return h[-1]", "5, 3, 4"),
        ("self.rnn = nn.LSTM(4, 6)", "h, _ = self.rnn(x); h = h * 2; return h[:, -1]", "5, 3, 4"),
        ("self.rnn = nn.LSTM(4, 6, **{})", "h, _ = self.rnn(x); return h[:, -1]", "5, 3, 4"),  # who knows
        ("self.rnn = LSTM(4, 6)", "h, _ = self.rnn(x); return h[:, -1]", "5, 3, 4"),  # one of the program's own
        ("self.rnn = nn.Linear(4, 6)", "h = self.rnn(x); return h[:, -1]", "5, 3, 4"),
        ("self.rnn = nn.LSTM(4, 6)", CALLS[3].format("h[:, -1]"), "5, 3, 4"),
    ],
)
def test_what_says_nothing(tmp_path: Path, engine: str, made: str, used: str, shape: str) -> None:
    assert told(tmp_path, engine, made, used, shape) == []


ENCODER = "nn.TransformerEncoder({}, 2, enable_nested_tensor=False)"
LAYER = "nn.TransformerEncoderLayer(4, 2, 8, batch_first={})"


@parity
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    ("expression", "dimension"), [("h[:, 0]", 1), ("h.mean(dim=1)", 1), ("h[0]", 0), ("h.mean(0)", 0)]
)
@pytest.mark.parametrize(
    ("made", "call"),
    [
        (f"self.m = {ENCODER.format(LAYER)}", "self.m(x)"),
        (f"layer = {LAYER}\n        self.m = {ENCODER.format('layer')}", "self.m(x)"),
        (f"self.m = {LAYER}", "self.m(x)"),
        ("self.m = nn.MultiheadAttention(4, 2, batch_first={})", "self.m(x, x, x)[0]"),
    ],
)
def test_the_output_of_attention(
    tmp_path: Path, made: str, call: str, expression: str, dimension: int, batch_first: bool
) -> None:
    used = f"h = {call}\n        return {expression}"
    found = told(tmp_path, "torch", made.format(batch_first), used)
    assert len(found) == (dimension == (0 if batch_first else 1))
