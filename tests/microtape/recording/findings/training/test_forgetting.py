"""Optimisers that a method makes: before each step, which is told, and where that is right."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

_PROGRAM = """\
import microtape as mt
from microtape import nn, optim


class Rule:
    kind, optimizer = "adam", None

    def take(self, parameters):
{take}

    def step(self):
        self.optimizer.step()


model, rule, other = nn.Linear(2, 1), Rule(), Rule()
x = mt.ones(3, 2)
rule.take(model.parameters())
for epoch in range(2):
{loop}
"""
_ADAM = "self.optimizer = optim.Adam(list(parameters), lr=0.01)"
_ROUND = "model.zero_grad()\n(model(x) - 1).square().sum().backward()\nrule.step()"
_EACH = f"rule.take(model.parameters())\n{_ROUND}"


def told(folder: Path, take: str, loop: str) -> list[Finding]:
    """The findings about optimisers that forget."""
    script = folder / "script.py"
    script.write_text(_PROGRAM.format(take=indent(take, " " * 8), loop=indent(loop, " " * 4)))
    recording, _ = record_program(script)
    assert recording.error is None, recording.error
    return [one for one in findings(recording) if one.kind == "forgetting"]


@pytest.mark.parametrize(
    ("take", "kind"),
    [
        (_ADAM, "Adam"),
        (f"if self.kind == 'adam':\n    {_ADAM}\nelse:\n"
         "    self.optimizer = optim.SGD(list(parameters), lr=0.1, momentum=0.9)", "optimiser"),
    ],
)  # fmt: skip
def test_a_method_that_makes_it_before_each_step_is_found(tmp_path: Path, take: str, kind: str) -> None:
    (finding,) = told(tmp_path, take, _EACH)
    assert finding.severity == "warning"
    assert finding.explanation[0].endswith(f"each time as the first step of a new {kind}.")
    assert finding.remedy == "Call rule.take(), which makes self.optimizer, once: outside of the loop."


@pytest.mark.parametrize(
    ("take", "loop"),
    [
        (_ADAM, _ROUND),
        (_ADAM, f"rule.take(model.parameters())\nfor _ in range(3):\n{indent(_ROUND, '    ')}"),  # for each epoch
        (_ADAM, f"other.take(model.parameters())\n{_ROUND}"),
        (_ADAM, f"if epoch == 1:\n    rule.take(model.parameters())\n{_ROUND}"),
        (f"if self.optimizer is None:\n    {_ADAM}", _EACH),
        (f"if self.optimizer is not None:\n    return\n{_ADAM}", _EACH),
        ("self.optimizer = optim.SGD(list(parameters), lr=0.01)", _EACH),
    ],
)
def test_others_are_not_told(tmp_path: Path, take: str, loop: str) -> None:
    assert told(tmp_path, take, loop) == []
