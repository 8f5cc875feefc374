"""What cuts a leaf off, or uses it, counts in the pass that it belongs to: not in one before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
TEACHER = """\
import {engine} as mt
mt.manual_seed(0)
class Net(mt.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.head, self.side = mt.nn.Linear(3, 4), mt.nn.Linear(4, 2), mt.nn.Linear(4, 2)
    def forward(self, x):
        h = self.trunk(x).tanh()
        return self.head(h), self.side(h)
x, y = mt.randn(8, 3), mt.randint(0, 2, (8,))
def train(net):
    optimizer = mt.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        out, _ = net(x)
        loss = mt.nn.functional.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
def teach(teacher, net):
    optimizer = mt.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        with mt.no_grad():
            wanted, side = teacher(x)
        out, mine = net(x)
        loss = (wanted.softmax(1) * -out.log_softmax(1)).sum() + (side - mine).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
big, small = Net(), Net()
train(big)
teach(big, small)
"""
FAILING = """\
import {engine} as mt

for is_written in (False, True):
    net = mt.nn.Linear(4, 2)
    output = net(mt.ones(3, 4))
    if is_written:
        output /= output.pow(2).sum(1, keepdim=True).sqrt()
    loss = output.sum()
    loss.backward()
"""


def told(folder: Path, engine: str, text: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text(text.replace("{engine}", engine))
    recording, _ = record_program(path)
    assert faults_of(recording) == []
    return [one for one in findings(recording) if one.kind == "no gradient"]


@engines
def test_a_teacher_runs_under_no_grad_when_it_has_learned(tmp_path: Path, engine: str) -> None:
    (finding,) = told(tmp_path, engine, TEACHER)
    assert finding.headline.endswith("loss was not computed from it")
    assert finding.explanation[0].startswith("self.side(h) at train.py:9 uses it")  # which the program calls _


@engines
def test_the_leaves_of_a_pass_that_fails_are_used_by_it(tmp_path: Path, engine: str) -> None:
    assert told(tmp_path, engine, FAILING) == []


COPIES = """\
import copy
import {engine} as mt

layers = mt.nn.Sequential(mt.nn.Linear(3, 3), mt.nn.Tanh(), mt.nn.Linear(3, 3))
model = mt.nn.Sequential(mt.nn.Tanh(), *[copy.deepcopy(layers[i]) for i in (0, 1, 1, 2)])
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(mt.ones(2, 3)).square().sum().backward()
    optimizer.step()
"""


@pytest.mark.parity
def test_copies_of_several_layers_are_told_together(tmp_path: Path) -> None:
    (finding,) = told(tmp_path, "torch", COPIES)
    assert finding.headline.endswith("get no gradient: only copies are used")
    assert "copies of layers.0 and layers.2" in finding.explanation[0]


STOPPED = """\
import {engine} as mt

mt.manual_seed(0)
x = mt.randn(8, 3)
for size in (2, 5):
    net = mt.nn.Sequential(mt.nn.Linear(3, 4), mt.nn.Linear(4, size))
    side = mt.nn.Linear(size, 1)
    for _ in range(2):
        loss = (side(net(x)) - 1 / (5 - size)).square().mean()
        loss.backward()
"""


@engines
def test_a_model_that_an_exception_comes_before_is_not_told_to_get_no_gradient(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(STOPPED.format(engine=engine))
    recording, _ = record_program(path)
    assert recording.error is not None
    assert [one for one in findings(recording) if one.kind == "no gradient"] == []
