"""What is taken for a copy of a parameter, on both engines: told if a use shows it, whatever made it and however."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import Place, Recording
from microtape.recording.model.source import holders
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import copy
import {engine} as torch
nn = torch.nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for step in range(3):
    {made}
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    {update}
    {used}
"""
IN_LOOP = "\n    "
UPDATES = (
    "optimizer.step()",
    "with torch.no_grad():\n        for p in model.parameters(): p -= 0.1 * p.grad",
    "for p in model.parameters(): p.data -= 0.1 * p.grad",
    "with torch.no_grad():\n        for p in model.parameters(): p.copy_(p - 0.1 * p.grad)",
)
TENSORS = ("kept = model.weight.detach()", "kept = model.weight.data", "step_size, kept = 0.1, model.weight.detach()")
STATES = ("kept = model.state_dict()", "step_size, kept = 0.1, model.state_dict()")
OF_A_TENSOR = (
    "same = torch.equal(kept, model.weight)",
    "same = torch.allclose(kept, model.weight.data)",
    "same = (kept == model.weight).all()",
    "same = (model.weight != kept).any()",
    "change = (model.weight - kept).abs().sum()",
    "change = kept.sub(model.weight.detach())",
    "change = nn.functional.mse_loss(model.weight, kept)",
    "change = torch.isclose(kept, model.weight)",
    "with torch.no_grad(): model.weight.copy_(kept)",
)
OF_A_STATE = (
    "model.load_state_dict(kept)",
    "same = torch.equal(kept['weight'], model.state_dict()['weight'])",
    "change = (model.weight - kept['weight']).norm()",
)
engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
pairs = st.sampled_from([(made, used) for made in TENSORS for used in OF_A_TENSOR]) | st.sampled_from(
    [(made, used) for made in STATES for used in OF_A_STATE]
)


def record(folder: Path, engine: str, made: str, update: str, used: str) -> Recording:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, made=made, update=update, used=used))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return recording


def serious(recording: Recording) -> list[Finding]:
    return [one for one in findings(recording) if one.severity != "notice"]


def line(place: Place | None) -> int | None:
    return place.line if place is not None else None


@engines
@given(pairs, st.sampled_from(UPDATES))
def test_it_is_found_and_with_a_copy_nothing_is(
    tmp_path_factory: pytest.TempPathFactory, engine: str, pair: tuple[str, str], update: str
) -> None:
    made, used = pair
    folder = tmp_path_factory.mktemp("kept")
    recording = record(folder, engine, made, update, used)
    (found,) = serious(recording)
    assert found.kind == "written through a view"
    assert found.headline.startswith("kept is no copy")
    assert line(found.place) == 10
    written = 14 + update.count("\n")
    assert [line(dict(found.others)[role]) for role in ("written", "used")] == [written, written + 1]
    copied = made.replace("model.state_dict()", "copy.deepcopy(model.state_dict())")
    copied = f"{made}.clone()" if copied == made else copied
    assert serious(record(folder, engine, copied, update, used)) == []


@engines
@pytest.mark.parametrize(
    ("made", "used"),
    [
        ("w = model.weight.data", "w.mul_(0.99); decay = (w - model.weight).abs()"),  # who writes through it knows
        ("w = model.weight.data", "size = w.norm()"),  # the newest numbers are as likely meant
        ("", "same = torch.equal(model.weight, model.weight)"),  # no NaN in it
        ("", "tied = torch.equal(model.weight.data, model.weight.data)"),
        ("", "is_nan = (model.weight != model.weight).any()"),
        ("", "model.load_state_dict(model.state_dict())"),
        ("before = model.weight.detach(); change = (model.weight - before).sum()", ""),  # before the update
        ("before = [p.detach().clone() for p in model.parameters()]", "change = before[0] - model.weight"),
    ],
)
def test_what_says_nothing(tmp_path: Path, engine: str, made: str, used: str) -> None:
    assert serious(record(tmp_path, engine, made, UPDATES[0], used)) == []


@engines
@pytest.mark.parametrize("name", ["best_weight", "w_old", "initialWeight", "self_before"])
def test_a_name_that_says_it_is_old(tmp_path: Path, engine: str, name: str) -> None:
    recording = record(tmp_path, engine, f"{name} = model.weight.detach()", UPDATES[0], f"size = {name}.norm()")
    (found,) = serious(recording)
    assert found.headline == f"{name} is no copy of model.weight: each update changes both"
    assert found.explanation[1].startswith("optimizer.step() at train.py:14 changed both")
    assert found.remedy == f"Keep a copy: {name} = model.weight.detach().clone()."


@engines
def test_two_names_of_the_parameter_itself(tmp_path: Path, engine: str) -> None:
    made = "before = next(model.parameters())"
    used = "after = next(model.parameters()); same = torch.equal(before, after)"
    (found,) = serious(record(tmp_path, engine, made, UPDATES[0], used))
    assert found.headline == "before and after are the same tensor"
    assert "torch.equal(before, after) at train.py:15 is True" in found.explanation[0]


@engines
def test_many_uses_are_one_finding(tmp_path: Path, engine: str) -> None:
    used = IN_LOOP.join(["model.load_state_dict(kept)", "same = [torch.equal(kept[k], v) for k, v in kept.items()]"])
    (found,) = serious(record(tmp_path, engine, "kept = model.state_dict()", UPDATES[0], used))
    assert found.headline == "kept is no copy: model.load_state_dict(kept) changes nothing"


def test_the_holder_of_a_value() -> None:
    text = "a = f(x)\nb, (c, d) = 1, (y, [z])\ne = {'w': v for v in u}\ng[0] = h\nk = m if n else o\np = q(r)\n"
    named = {text.splitlines()[at[0] - 1][at[2] : at[3]]: held for at, held in holders(text).items()}
    assert named == {
        "f(x)": ("a", True), "1": ("b", True), "y": ("c", True), "z": ("d", False), "v": ("e", False),
        "h": ("g", False), "m": ("k", False), "o": ("k", False), "q(r)": ("p", True),
    }  # fmt: skip
