"""Gradients that are reset one by one are told, unless the program keeps each of them, or puts others there."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as mt

mt.manual_seed(0)
net = mt.nn.Linear(3, 2)
optimizer = mt.optim.SGD(net.parameters(), lr=0.1)
x, goals = mt.rand(4, 3), [mt.rand(4, 2), -mt.rand(4, 2)]


def put(gradients):
    for p, g in zip(net.parameters(), gradients):
        p.grad = g


def put_by_name(gradients):
    for p, g in zip(net.parameters(), gradients):
        setattr(p, "grad", g)


def copy(gradients):
    for p, g in zip(net.parameters(), gradients):
        p.grad.copy_(g)


def zeros():
    return [mt.zeros_like(p) for p in net.parameters()]


for _ in range(4):
    kept, sums, norms = [], zeros(), []
    for goal in goals:
        optimizer.zero_grad()
        (net(x) - goal).square().mean().backward()
        {each}
    {then}
    optimizer.step()
"""
TRAINER = """\
class Trainer:
    def step(self):
        self.flat = []
        for goal in goals:
            self.backward(goal)
        optimizer.step()

    def backward(self, goal):
        optimizer.zero_grad()
        (net(x) - goal).square().mean().backward()
        self.flat.append(mt.cat([p.grad.flatten() for p in net.parameters()]))


trainer = Trainer()
for _ in range(4):
    trainer.step()
"""
SUM = "kept.append([p.grad.clone() for p in net.parameters()])"


def told(folder: Path, engine: str, each: str, then: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, each=each, then=then))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one for one in findings(recording) if one.kind == "no update"]


@engines
@pytest.mark.parametrize(
    ("each", "then"),
    [
        (SUM, "put([a + b for a, b in zip(*kept)])"),
        (SUM, "put_by_name([a + b for a, b in zip(*kept)])"),
        (SUM, "copy([a + b for a, b in zip(*kept)])"),
        (SUM, "net.weight.data -= 0.1 * kept[0][0]"),
        ("sums[0] += net.weight.grad; sums[1] += net.bias.grad", "net.weight.data -= 0.1 * sums[0]"),
        ("kept.append(net.bias.grad.clone()); kept.append(net.weight.grad)", "kept.clear()"),
        ("kept.append([p.grad * 0.5 for p in net.parameters()])", "kept.clear()"),
    ],
)
def test_gradients_that_are_kept(tmp_path: Path, engine: str, each: str, then: str) -> None:
    assert told(tmp_path, engine, each, then) == []


@engines
@pytest.mark.parametrize(
    ("each", "then"),
    [
        ("pass", "pass"),
        ("norms.append(net.weight.grad.norm().item())", "print(norms)"),
        ("print(net.weight.grad)", "pass"),
        ("pass", "for p in net.parameters(): p.grad /= 2"),
        ("pass", "net.weight.grad = net.weight.grad.clamp(-1, 1)"),
    ],
)
def test_gradients_that_are_lost(tmp_path: Path, engine: str, each: str, then: str) -> None:
    (finding,) = told(tmp_path, engine, each, then)
    assert "gradient" in finding.headline
    assert finding.place is not None
    assert finding.place.line == 32
    assert "by optimizer.zero_grad() at train.py:31" in finding.explanation[0]


@engines
def test_a_method_keeps_them(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "train.py"
    text = PROGRAM.format(engine=engine, each="pass", then="pass")
    path.write_text(text.partition("for _ in range(4):")[0] + TRAINER)
    recording, _ = record_program(path)
    assert [one.headline for one in findings(recording) if one.severity != "notice"] == []
