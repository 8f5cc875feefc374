"""An optimiser whose tensors are replaced by others is told; one that is made anew, or given these, is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as torch


def make():
    return torch.nn.Linear(3, 1)


def optimizer_of(net):
    return torch.optim.SGD(net.parameters(), lr=0.1)


net = make()
optimizer = optimizer_of(net)
for epoch in range(8):
    loss = net(torch.ones(4, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch == 3:
        {then}
"""


def told(folder: Path, engine: str, then: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, then=then))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one for one in findings(recording) if one.kind == "no update"]


@engines
@pytest.mark.parametrize("then", ["net = make()", "net.weight = torch.nn.Parameter(net.weight.detach().clone())"])
def test_new_tensors(tmp_path: Path, engine: str, then: str) -> None:
    (finding,) = told(tmp_path, engine, then)
    assert finding.severity == "error"
    assert finding.place is not None
    assert finding.place.line == 20
    assert "still updates" in finding.headline
    assert "From pass 5 on" in finding.explanation[0]


@engines
@pytest.mark.parametrize(
    "then",
    [
        "net = make(); optimizer = optimizer_of(net)",
        "net = make(); optimizer.add_param_group({{'params': list(net.parameters())}})",
        "net.load_state_dict(make().state_dict())",
        "net.weight.data = torch.ones(1, 3)",
        "optimizer = optimizer_of(make()); net.requires_grad_(False); net.bias.requires_grad_()",
    ],
)
def test_tensors_that_are_updated(tmp_path: Path, engine: str, then: str) -> None:
    assert [
        one for one in told(tmp_path, engine, then.replace("{{", "{").replace("}}", "}")) if "still" in one.headline
    ] == []


@engines
def test_one_pass_of_others(tmp_path: Path, engine: str) -> None:
    assert told(tmp_path, engine, "pass") == []
