"""A gradient that the program asks `grad` for may be that of a result: nothing is to be said of the leaf behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as mt

mt.manual_seed(0)
x = mt.tensor([[0.1], [0.7], [-0.4]], dtype=mt.float64, requires_grad=True).float()
net = mt.nn.Sequential(mt.nn.Linear(1, 4), mt.nn.Tanh(), mt.nn.Linear(4, 1))
optimizer = mt.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    u = net(x)
    (slope,) = mt.autograd.grad(u.sum(), x, create_graph=True)
    loss = (slope + u).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@engines
def test_a_result_whose_gradient_is_asked_for_need_be_no_leaf(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(engine=engine))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    assert not findings(recording)
