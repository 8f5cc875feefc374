"""Steps with gradients that a step before has used: what is told, and the programs in which that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

PROGRAM = """\
import microtape as mt
from microtape import nn, optim


class Wrapper(optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        super().__init__([p for group in inner.param_groups for p in group["params"]], {{}})

    def step(self):
        self.inner.step()


mt.manual_seed(0)
net = nn.Linear(4, 1)
x = mt.randn(8, 4)
sgd, adam = optim.SGD(net.parameters(), lr=0.05), optim.Adam(net.parameters(), lr=0.05)
for _ in range(4):
    loss = (net(x) - x[:, :1]).square().mean()
    sgd.zero_grad()
    loss.backward()
    {steps}
"""


def found(folder: Path, *steps: str) -> list[Finding]:
    """What is told of repeated steps."""
    script = folder / "script.py"
    script.write_text(PROGRAM.format(steps="\n    ".join(steps)))
    return [one for one in findings(record_program(script)[0]) if one.kind == "repeated step"]


@pytest.mark.parametrize("steps", [("sgd.step()", "sgd.step()"), ("sgd.step()", "adam.step()")])
def test_both_steps_are_told(tmp_path: Path, steps: tuple[str, str]) -> None:
    (finding,) = found(tmp_path, *steps)
    assert finding.headline == f"{steps[1]} at script.py:23 uses the gradients of line 22 again"
    assert [(role, place.line) for role, place in finding.others] == [("stepped", 22)]


def test_a_step_in_a_loop_of_its_own_is_told_once(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "for p in net.parameters():", "    sgd.step()")
    assert finding.headline == "sgd.step() at script.py:23 runs several times for one backward"
    assert "outside of the inner loop" in finding.remedy


@pytest.mark.parametrize(
    "steps",
    [
        ("sgd.step()",),
        ("Wrapper(sgd).step()",),
        ("sgd.step()", "net.weight.grad.mul_(0.5)", "net.bias.grad.mul_(0.5)", "sgd.step()"),
        ("sgd.step()", "for p in net.parameters(): p.grad = p.grad / 2", "sgd.step()"),
        ("sgd.step()", "with mt.no_grad():", "    for p in net.parameters(): p.mul_(0.9)", "sgd.step()"),
        ("sgd.step()", "sgd.zero_grad()", "(net(x) - 1).square().mean().backward()", "sgd.step()"),
        ("if _ == 2:", "    sgd.step()", "sgd.step()"),
    ],
)
def test_what_is_meant_is_not_told(tmp_path: Path, steps: tuple[str, ...]) -> None:
    assert found(tmp_path, *steps) == []
