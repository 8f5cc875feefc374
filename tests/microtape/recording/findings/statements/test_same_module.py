"""A network that loads its own weights is told; one that has a module of its own, or may have, is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import copy

import microtape as mt


class Agent:
    def __init__(self, model, other):
        {made}

    def follow(self):
        {follows}


agent = Agent(mt.nn.Linear(2, 2), mt.nn.Linear(2, 2))
agent.policy(mt.ones(3, 2)).sum().backward()
agent.follow()
"""
FOLLOWS = "self.target.load_state_dict(self.policy.state_dict())"


def told(folder: Path, made: str, follows: str) -> list[tuple[str, str, int]]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(made=made.replace("; ", "\n        "), follows=follows))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    found = [one for one in findings(recording) if one.kind == "no effect"]
    return [(one.severity, one.remedy, one.place.line) for one in found if one.place is not None]


@pytest.mark.parametrize(
    ("made", "line", "copied"),
    [
        ("self.policy = model; self.target = model", 9, "model"),
        ("self.policy = model; self.target = self.policy", 9, "self.policy"),
        ("self.target = model.eval(); self.policy = model.train()", 8, "model"),
    ],
)
def test_two_names_of_one_module(tmp_path: Path, made: str, line: int, copied: str) -> None:
    assert told(tmp_path, made, FOLLOWS) == [("error", f"Make a copy: self.target = copy.deepcopy({copied}).", line)]


@pytest.mark.parametrize(
    "made",
    [
        "self.policy = model; self.target = other",
        "self.policy = model; self.target = copy.deepcopy(model)",
        "self.policy = model; self.target = model; self.target = copy.deepcopy(model)",
        "self.policy = model; self.target = self.policy if model is None else other",
        "self.policy = model; model = other; self.target = model",
        "self.target = model; self.policy = mt.nn.Linear(2, 2)",
        "self.policy, self.target = model, other",
        "self.policy = model; self.target = mt.nn.Sequential(model)[0] if model is None else other",
    ],
)
def test_two_modules(tmp_path: Path, made: str) -> None:
    assert told(tmp_path, made, FOLLOWS) == []


def test_both_sides_are_one_variable(tmp_path: Path) -> None:
    made = "self.policy = model; self.target = other; self.target.load_state_dict(self.policy.state_dict())"
    ((severity, remedy, line),) = told(tmp_path, made, "self.target.load_state_dict(self.target.state_dict())")
    assert (severity, line) == ("warning", 13)
    assert remedy.endswith("such as self.target.load_state_dict(self.policy.state_dict()).")


def test_a_network_that_need_not_follow_another(tmp_path: Path) -> None:
    made = "self.policy = model; self.target = other"
    ((severity, remedy, _),) = told(tmp_path, made, "self.policy.load_state_dict(self.policy.state_dict())")
    assert severity == "notice"  # which may test that it can be loaded
    assert remedy == "Load those of the network that it is to follow."
