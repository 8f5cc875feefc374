"""Training loops whose lines are drawn at random: every search copes with them, in whatever order they stand."""

from __future__ import annotations

from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.findings import findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from tests.programs.corpus import record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
START = """import {engine} as torch

torch.manual_seed(0)
layer = torch.nn.Linear(2, 2)
w, v = layer.weight, torch.nn.Parameter(torch.randn(2, 2))
state = layer.state_dict()
first = torch.optim.{first}([*layer.parameters()], lr={rate})
second = torch.optim.{second}([w, v], lr=0.1)
x, kept, best = torch.randn(3, 2), w.detach(), w.detach().clone()
held = (x @ v).sin().sum()
"""
PASSES = (
    "layer(x).square().sum().backward()",
    "(x @ v).sum().backward()",
    "(layer(x) @ v).square().mean().backward()",
    "torch.autograd.grad((layer(x) @ v).sum(), [w, v])",
    "(x @ v.detach()).square().sum().add(w.sum() * 0).backward()",
    "(layer(x) - 1).relu().sum().backward()",
    "held = (x @ v).sin().sum()",
    "held.backward(retain_graph=True)",
)
UPDATES = (
    "first.step()",
    "second.step()",
    "w.data.mul_(0.5)",
    "w.data.copy_(best)",
    "if v.grad is not None:\n    v.data.add_(v.grad, alpha=-0.1)",
    "layer.load_state_dict(state)",
    "with torch.no_grad():\n    w -= 0.1 * (w if w.grad is None else w.grad)",
    "with torch.no_grad():\n    v.mul_(0.9).add_(w, alpha=0.1)",
    "with torch.no_grad():\n    v.copy_(w)",
)
BETWEEN = (
    "first.zero_grad()",
    "second.zero_grad(set_to_none=False)",
    "w.grad = None",
    "if w.grad is not None:\n    w.grad.zero_()",
    "torch.nn.utils.clip_grad_norm_([w, v], 0.1)",
    "best = w.detach().clone()",
    "kept = w.data",
    "(kept == w).all()",
    "w.requires_grad_(i % 2 == 0)",
    "layer.train(i % 2 == 0)",
    "state = layer.state_dict()",
    "x = x + w.sum()",
    "x = x.detach()",
    "float(w.sum())",
    "if i % 2:\n    continue",
    "if i == 2:\n    break",
)
ROUNDS = ("", "", "", "if i % 2 == 0:\n", "if i < 2:\n", "if i > 1:\n", "for _ in range(2):\n")
OPTIMISERS = st.sampled_from(["SGD", "Adam", "AdamW", "RMSprop"])


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """A line, or some lines that belong together; some of them in some rounds only, or twice."""
    text = draw(st.sampled_from(PASSES) | st.sampled_from(UPDATES) | st.sampled_from(BETWEEN))
    rounds = draw(st.sampled_from(ROUNDS))
    return rounds + indent(text, "    " * bool(rounds))


@engines
@given(st.data())
def test_any_order(tmp_path_factory: pytest.TempPathFactory, engine: str, data: st.DataObject) -> None:
    rate = data.draw(st.sampled_from([0.1, 0.0, 100.0]))
    start = START.format(engine=engine, first=data.draw(OPTIMISERS), second=data.draw(OPTIMISERS), rate=rate)
    body = data.draw(st.lists(blocks(), min_size=2, max_size=12))
    path = tmp_path_factory.mktemp("schedule") / "train.py"
    rounds = data.draw(st.integers(1, 5))
    path.write_text(f"{start}for i in range({rounds}):\n" + indent("\n".join(body), "    "))
    recording, _ = record_program(path)
    for one in findings(recording):
        assert one.explanation
        assert one.remedy
        assert len(one.headline) <= MOST_IN_A_HEADLINE
        if one.pass_ is not None and one.step is not None:
            assert one.step < len(recording.passes[one.pass_].steps)
