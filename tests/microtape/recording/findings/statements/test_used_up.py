"""Generators of parameters that are run through twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

_PROGRAM = """\
import microtape as mt
from microtape import nn, optim

model = nn.Linear(2, 1)
kind = "sgd"


def made(parameters):
    return optim.SGD(parameters, lr=0.1)


def run():
    {statements}
    model(mt.ones(3, 2)).sum().backward()
    optimizer.step()


run()
"""
_MADE = "parameters = model.parameters()\n"


@pytest.mark.parametrize(
    ("statements", "line"),
    [
        ("optimizer = made(parameters)\nnn.utils.clip_grad_norm_(parameters, 1.0)", 3),
        ("optimizer = made(parameters)\nfor p in parameters:\n    p.data.zero_()", 3),
        ("optimizer = made(parameters)\nn = sum(p.numel() for p in parameters)", 3),
        ("if kind:\n    optimizer = made(parameters)\nfor p, q in zip(parameters, parameters):\n    pass", 4),
        ("optimizer = made(model.parameters())\nfor _ in range(2):\n    for p in parameters:\n        pass", 4),
    ],
)
def test_a_second_use_is_found(tmp_path: Path, statements: str, line: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(_PROGRAM.format(statements=(_MADE + statements).replace("\n", "\n    ")))
    found = [one for one in findings(record_program(script)[0]) if one.kind == "no effect"]
    assert [one.place.line for one in found if one.place is not None] == [12 + line]
    assert found[0].remedy == "Keep them in a list: parameters = list(model.parameters())."


@pytest.mark.parametrize(
    "made",
    ["filter(lambda p: p.requires_grad, model.parameters())", "(p for p in model.parameters() if p.requires_grad)"],
)
def test_a_part_of_the_parameters_is_used_up_as_well(tmp_path: Path, made: str) -> None:
    script = tmp_path / "script.py"
    statements = f"parameters = {made}\noptimizer = made(parameters)\nnn.utils.clip_grad_norm_(parameters, 1.0)"
    script.write_text(_PROGRAM.format(statements=statements.replace("\n", "\n    ")))
    found = [one for one in findings(record_program(script)[0]) if one.kind == "no effect"]
    assert [one.headline for one in found] == ["parameters is used up at script.py:15"]


@pytest.mark.parametrize(
    "statements",
    [
        "optimizer = made(parameters)",
        "print(parameters)\noptimizer = made(parameters)",
        "optimizer = made(parameters)\nparameters = model.parameters()\nfor p in parameters:\n    pass",
        "if kind == 'sgd':\n    optimizer = made(parameters)\nelse:\n    optimizer = optim.Adam(parameters)",
        "match kind:\n    case 'sgd':\n        optimizer = made(parameters)\n"
        "    case _:\n        optimizer = made(parameters)",
        "optimizer = made(parameters)\nif False:\n    len(parameters)\nfor p in parameters:\n    pass",
        "for _ in range(2):\n    p = model.parameters()\n    optimizer = made(p)",
        "optimizer = made(parameters)\ndef other(parameters):\n    return list(parameters)",
    ],
)  # fmt: skip
def test_one_use_at_a_time_is_none(tmp_path: Path, statements: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(_PROGRAM.format(statements=(_MADE + statements).replace("\n", "\n    ")))
    assert [one for one in findings(record_program(script)[0]) if one.kind == "no effect"] == []
