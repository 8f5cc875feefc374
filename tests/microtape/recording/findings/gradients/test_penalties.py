"""A gradient penalty with one norm for the whole batch is told; norms of rows and of parameters' gradients are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
START = """import {engine} as torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
x, one = torch.randn(8, 3, requires_grad=True), torch.randn(1, 3, requires_grad=True)
def slopes(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
"""


def found_in(folder: Path, engine: str, *lines: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text("\n".join([START.format(engine=engine), *lines, "penalty.backward()"]))
    recording, _ = record_program(path)
    assert recording.error is None
    return [one for one in findings(recording) if one.kind == "batch dimension"]


@engines
@pytest.mark.parametrize(
    "written",
    [
        "g = slopes(net(x), x)\npenalty = (g.norm(2) - 1) ** 2",
        "g = slopes(net(x), x)\npenalty = ((g.norm() - 1) ** 2).mean()",
        "g = slopes(net(x).squeeze(1), x)\npenalty = (g.view(len(g), -1).norm() - 1.0).pow(2)",
        "g = slopes(net(x), x)\npenalty = torch.relu(g.norm(2) - 1)",
    ],
)
def test_one_norm_for_all_examples(tmp_path: Path, engine: str, written: str) -> None:
    (one,) = found_in(tmp_path, engine, written)
    assert one.severity == "warning"
    assert "g is 8×3" in one.explanation[0]
    assert "about 0.3536" in one.explanation[1]
    assert "g.flatten(1).norm(2, dim=1)" in one.remedy


@engines
@pytest.mark.parametrize(
    "written",
    [
        "penalty = ((slopes(net(x), x).norm(2, dim=1) - 1) ** 2).mean()",
        "penalty = (slopes(net(one), one).norm() - 1) ** 2",  # a batch of one
        "penalty = slopes(net(x), x).norm() ** 2",
        "penalty = (slopes(net(x).mean(), x).norm() - 1) ** 2",  # of the loss, as a sharpness may be
        "penalty = (slopes(net(x).mean(), net[0].weight).norm() - 1) ** 2",
        "penalty = (slopes(net(x).sum(), x).norm() - 1) ** 2",  # of a molecule, say
        "penalty = (net[0].weight.norm() - 1) ** 2",
    ],
)
def test_other_norms(tmp_path: Path, engine: str, written: str) -> None:
    assert found_in(tmp_path, engine, written) == []


@engines
def test_the_gradient_of_a_weight_with_as_many_rows_as_examples(tmp_path: Path, engine: str) -> None:
    step = "torch.optim.SGD(net.parameters(), lr=0.1)"
    lines = ("penalty = (slopes(net(x), net[0].weight).norm() - 1) ** 2", "penalty.backward(retain_graph=True)")
    assert found_in(tmp_path, engine, *lines, f"{step}.step()", "penalty = (net(x) ** 2).mean()") == []
