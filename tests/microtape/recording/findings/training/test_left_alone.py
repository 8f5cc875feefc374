"""An optimiser that a function makes and nothing steps is told; one that others may step is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import microtape as mt

one, other = mt.nn.Linear(2, 1), mt.nn.Linear(2, 1)


def make():
    first = mt.optim.SGD(one.parameters(), lr=0.1)
    second = mt.optim.SGD(other.parameters(), lr=0.1)
    return first, second


{made}
for _ in range(3):
    for net in (one, other):
        net.zero_grad()
        net(mt.ones(4, 2)).square().mean().backward()
        first.step()
    {then}
"""


def told(folder: Path, made: str, then: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(made=made, then=then))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.headline for one in findings(recording) if "never called" in one.headline]


def test_no_step_of_what_a_function_has_made(tmp_path: Path) -> None:
    assert told(tmp_path, "first, second = make()", "pass") == ["second learns nothing: second.step() is never called"]


@pytest.mark.parametrize(
    ("made", "then"),
    [
        ("first, second = make()", "second.step()"),
        ("first, second = make()", "for each in (first, second): each.step()"),
        ("both = make(); first = both[0]", "both[1].step()"),
        ("first, last = make()", "last.step()"),  # it has another name there
        ("first, second = make(); _, last = make()", "last.step()"),
    ],
)
def test_others_may_step_it(tmp_path: Path, made: str, then: str) -> None:
    assert told(tmp_path, made, then) == []


LATER = """\
import microtape as mt

one, other = mt.nn.Linear(2, 1), mt.nn.Linear(2, 1)
first = mt.optim.SGD(one.parameters(), lr=0.1)
for _ in range(3):
    first.zero_grad()
    one(mt.ones(4, 2)).square().mean().backward()
    first.step()
second = mt.optim.SGD(other.parameters(), lr=0.1)
{then}
"""


@pytest.mark.parametrize(
    ("then", "count"),
    [("pass", 0), ("other(mt.ones(4, 2)).square().mean().backward()", 1)],
)
def test_one_that_is_made_below_the_last_pass_has_nothing_to_step_for(tmp_path: Path, then: str, count: int) -> None:
    path = tmp_path / "train.py"
    path.write_text(LATER.format(then=then))
    told = [one.headline for one in findings(record_program(path)[0]) if "never called" in one.headline]
    assert told == ["second learns nothing: second.step() is never called"][:count]


def functions(last: str, name: str = "second") -> str:
    """Functions that get both optimisers, of which one may step them."""
    return f"""def inner(first, {name}):
    {last}


def outer(first, second):
    inner(first, {name}=second)


first, second = make()"""


def test_no_step_in_the_functions_that_get_it(tmp_path: Path) -> None:
    expected = ["second learns nothing: second.step() is never called"]
    assert told(tmp_path, functions("second.zero_grad()"), "outer(first, second)") == expected


@pytest.mark.parametrize(
    "made", [functions("second.step()"), functions("last.step()", "last"), functions("list((second,))[0].step()")]
)
def test_a_function_that_gets_it_may_step_it(tmp_path: Path, made: str) -> None:
    assert told(tmp_path, made, "outer(first, second)") == []
