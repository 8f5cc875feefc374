"""Leaves that share their memory: what is told, and the programs in which two leaves may well be equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

PROGRAM = """\
import copy

import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
first, last = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
{before}
optimizer = optim.{optimizer}([first.weight, last.weight], lr=0.05)
x = mt.randn(8, 4)
for _ in range(4):
    loss = (last(first(x).tanh()) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {after}
"""


def found(folder: Path, before: str, after: str = "pass", optimizer: str = "Adam") -> list[Finding]:
    """What is told of shared memory."""
    script = folder / "script.py"
    script.write_text(PROGRAM.format(before=before, after=after, optimizer=optimizer))
    return [one for one in findings(record_program(script)[0]) if "share" in one.headline]


@pytest.mark.parametrize(
    "before",
    [
        "last.weight.data = first.weight.data",
        "last.weight.data = first.weight",
        "last.weight = nn.Parameter(first.weight)",
        "last.weight = nn.Parameter(first.weight.data)",
    ],
)
def test_two_leaves_with_one_memory_are_told_with_both_ways_out(tmp_path: Path, before: str) -> None:
    (finding,) = found(tmp_path, before)
    assert finding.headline == "last.weight and first.weight share their memory, and are two leaves"
    assert finding.place is not None
    assert finding.place.line == 8
    assert finding.severity == "warning"
    assert "last.weight = first.weight." in finding.remedy
    assert "first.weight.detach().clone()" in finding.remedy


def test_steps_of_sgd_add_up_so_that_it_is_a_notice(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "last.weight.data = first.weight.data", optimizer="SGD")
    assert finding.severity == "notice"


def test_two_leaves_made_of_one_tensor_are_to_have_copies(tmp_path: Path) -> None:
    (finding,) = found(
        tmp_path,
        "start = mt.randn(4, 4)\ndef put(layer):\n    layer.weight = nn.Parameter(start)\nput(first); put(last)",
    )
    assert finding.remedy == "Copy the numbers: layer.weight = nn.Parameter(start.detach().clone())."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("last.weight = first.weight", "pass"),
        ("last = first", "pass"),
        ("last = copy.deepcopy(first)", "pass"),
        ("last.weight.data = first.weight.data.clone()", "pass"),
        ("last.weight = nn.Parameter(first.weight.detach().clone())", "pass"),
        ("pass", "last.weight.data.copy_(first.weight.data)"),
        ("other = nn.Linear(4, 4)\nother.weight = nn.Parameter(first.weight)", "pass"),
    ],
)
def test_one_leaf_or_two_memories_are_right(tmp_path: Path, before: str, after: str) -> None:
    assert found(tmp_path, before, after) == []


def test_equal_leaves_with_equal_gradients_may_stay_equal(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import microtape as mt\nfrom microtape import nn, optim\n"
        "start = mt.randn(3)\nw = nn.Parameter(start)\nv = nn.Parameter(mt.tensor(start.tolist()))\n"
        "optimizer = optim.Adam([w, v], lr=0.1)\n"
        "for _ in range(3):\n    optimizer.zero_grad()\n    (w * v).sum().backward()\n    optimizer.step()\n"
    )
    assert [one for one in findings(record_program(script)[0]) if "share" in one.headline] == []
