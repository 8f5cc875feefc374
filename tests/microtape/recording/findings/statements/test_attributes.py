"""Attributes that nothing reads: what is told, and the programs that mean what they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

_PROGRAM = """\
import microtape as mt
from microtape import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.body(x))


class Named:
    pass


class Slowing(optim.SGD):
    lr = 0.1


class Frozen(nn.Module):
    {own}
    def forward(self, x):
        return x


net, x, settings = Net(), mt.ones(3, 2), Named()
optimizer = optim.SGD(net.parameters(), lr=0.1)
slowing = Slowing(net.parameters(), lr=0.1)
{statement}
for _ in range(2):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
"""


def found(folder: Path, statement: str, own: str = "") -> list[Finding]:
    """The findings about statements without an effect, with this one before the loop."""
    script = folder / "script.py"
    script.write_text(_PROGRAM.format(statement=statement, own=own))
    recording, _ = record_program(script)
    assert recording.error is None, recording.error
    return [one for one in findings(recording) if one.kind == "no effect"]


@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        ("net.body.requires_grad = False", "Write net.body.requires_grad_(False)."),
        ("net.requires_grad = False", "Write net.requires_grad_(False)."),
        ("for m in net.modules():\n    m.requires_grad = False", "Write m.requires_grad_(False)."),
        ("for name, m in list(net.named_children())[:1]:\n    m.requires_grad = False",
         "Write m.requires_grad_(False)."),
        ("net.requires_grad_(False)\nnet.head.bias.requires_grad_(True)\nnet.body.require_grad = True",
         "Write net.body.requires_grad_(True)."),
        ("for p in net.parameters():\n    p.require_grad = False", "Write p.requires_grad = False."),
        ("optimizer.lr = 0.01", "Write for group in optimizer.param_groups: group['lr'] = 0.01."),
        ("optimizer.learning_rate = 0.01", "Write for group in optimizer.param_groups: group['lr'] = 0.01."),
    ],
)  # fmt: skip
def test_an_attribute_that_nothing_reads_is_found(tmp_path: Path, statement: str, remedy: str) -> None:
    (finding,) = found(tmp_path, statement)
    assert finding.severity == "warning"
    assert finding.remedy == remedy


@pytest.mark.parametrize(
    "statement",
    [
        "net.body.weight.requires_grad = False",
        "net.body.requires_grad_(False)",
        "for p in net.body.parameters():\n    p.requires_grad = False",
        "for m in net.body.modules():\n    m.requires_grad = False\n"
        "    for p in m.parameters():\n        p.requires_grad = False",  # the first line is idle, but all is frozen
        "net.head.requires_grad = True",  # as it was
        "for body in net.body.parameters():\n    body.requires_grad = False",
        "settings.lr = 0.01", "settings.requires_grad = False", "slowing.lr = 0.01",
        "optimizer.lr = 0.01\nfor group in optimizer.param_groups:\n    group['lr'] = optimizer.lr",
        "for p in net.parameters():\n    p.require_grad = False\n    p.requires_grad = p.require_grad or p.dim() == 2",
    ],
)  # fmt: skip
def test_other_attributes_are_not_told(tmp_path: Path, statement: str) -> None:
    assert found(tmp_path, statement) == []


def test_a_class_may_have_such_an_attribute(tmp_path: Path) -> None:
    own = "requires_grad = True"
    assert found(tmp_path, "for m in net.modules():\n    m.requires_grad = False", own) == []
