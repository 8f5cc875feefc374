"""Losses that are computed together, and differentiated by a function that is given them, are no graph that grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as mt

mt.manual_seed(0)
net = mt.nn.Linear(3, 4)
x, y, state = mt.rand(2, 3), mt.rand(2, 4), mt.zeros(2, 4)


def one(loss):
    loss.backward(retain_graph=True)
    learn()


def each(losses):
    for loss in losses:
        loss.backward(retain_graph=True)


def numbered(losses):
    for i in range(len(losses)):
        losses[i].backward(retain_graph=True)


def computed(compute):
    loss = compute()
    loss.backward(retain_graph=True)
    learn()


def learn():
    for p in net.parameters():
        p.data -= 0.1 * p.grad
        p.grad = None


def near(h):
    return (h - y).abs().mean()


def far(h):
    return (h - y).square().mean()


def carried():
    global state
    state = (net(x) + state).tanh()
    return far(state)


for _ in range(4):
    h = net(x)
    {then}
"""


def told(folder: Path, engine: str, then: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, then=then))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one for one in findings(recording) if one.kind == "growing graph"]


@engines
@pytest.mark.parametrize(
    "then",
    [
        "each([near(h), far(h)]); learn()",
        "each((near(h), far(h), far(-h))); learn()",
        "numbered([near(h), far(h)]); learn()",
        "for loss in [near(h), far(h)]: one(loss)",
        "k = net(h[:, :3]); a, b = near(h), far(k); one(a); one(b)",
    ],
)
def test_of_one_forward(tmp_path: Path, engine: str, then: str) -> None:
    assert told(tmp_path, engine, then) == []


@engines
@pytest.mark.parametrize(
    "then", ["state = (h + state).tanh(); one(far(state))", "computed(carried)", "loss = carried(); one(loss)"]
)
def test_of_rounds_that_hang_together(tmp_path: Path, engine: str, then: str) -> None:
    (finding,) = told(tmp_path, engine, then)
    assert finding.severity == "warning"
