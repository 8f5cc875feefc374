"""Checking: in every check, a learner's file must do what the solution does.

Expected results are not written down; the solution produces them. A known wrong answer is recognised by what it does
as well, so it makes no difference how the learner's file is written.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lessons.checking.checking_process import CheckingProcess, End
from lessons.checking.expected import Expected, same
from lessons.checking.observe import SECONDS, Observation, Outcome, Raised, observe
from lessons.checking.plain_data import Difference, difference
from lessons.model.lesson import Check, Exercise, WrongAnswer


class Result(NamedTuple):
    """The result of one check."""

    check: Check
    passed: bool
    did: Outcome | None  # None: the check was not reached
    expected: Outcome
    difference: Difference | None  # the first difference, if both outcomes are values

    @property
    def is_unwritten(self) -> bool:
        """Whether the check reached a part of the exercise that is not written yet."""
        return self.did is not None and self.did.is_unwritten


@dataclass(frozen=True)
class Verdict:
    """The result for a learner's file."""

    results: tuple[Result, ...]
    broken: Raised | None  # the file could not be run at all
    ended: End
    during: Check | None  # the check in which it ended, if it did not finish
    status: int | None
    output: str
    untouched: bool  # the file is as shipped
    wrong_answer: WrongAnswer | None  # the known wrong answer that does the same

    @property
    def passed(self) -> bool:
        """Whether the exercise is solved."""
        return self.ended == "finished" and self.broken is None and all(result.passed for result in self.results)


def check(
    exercise: Exercise,
    file: Path,
    *,
    seconds: float = SECONDS,
    expected: Expected | None = None,
    process: CheckingProcess | None = None,
    start: str = "",
) -> Verdict:
    """Check a learner's file. Takes about half a second, or at most the given number of seconds longer.

    With `expected` and `process`, what can be done before is done: the solution has run, and a process waits. `start`
    is the text that the learner began with, if that is not the exercise as shipped.

    Raises:
        LessonError: the exercise itself is at fault: its solution cannot be run.
        OSError: the learner's file cannot be read.
    """
    untouched = file.read_bytes() in (exercise.path.read_bytes(), start.encode())
    with ThreadPoolExecutor(1) as pool, contextlib.ExitStack() as ours:
        own = pool.submit(observe, exercise, [file], seconds=seconds, process=process)
        if expected is None:
            expected = ours.enter_context(Expected(exercise))
        outcomes = expected.outcomes
        did = own.result()[0]
        results = tuple(_result(one, did.outcomes.get(one.name), outcomes[one.name]) for one in exercise.checks)
        passed = all(result.passed for result in results)
        mistake = None if passed or untouched else _known_mistake(did, expected)
    ended_in = {one.name: one for one in exercise.checks}.get(did.during or "")
    return Verdict(
        results=results,
        broken=did.broken,
        ended=did.ended,
        during=ended_in if did.ended != "finished" else None,
        status=did.status,
        output=did.output,
        untouched=untouched,
        wrong_answer=mistake,
    )


def _known_mistake(did: Observation, expected: Expected) -> WrongAnswer | None:
    """The known wrong answer that a file matches: it fails the checks that the wrong answer fails, in the same way.

    Checks that the wrong answer passes are ignored. A check in which the file raises (from another mistake, or a part
    not written yet) matches any outcome, except that the first check that the file fails, which is reported in full,
    must match exactly. If several wrong answers match, the one that agrees in most checks wins.
    """
    if did.broken is not None or did.ended != "finished":
        return None
    first = next(name for name, right in expected.outcomes.items() if not same(did.outcomes[name], right))
    if did.outcomes[first].is_unwritten:
        return None
    fitting: list[tuple[int, WrongAnswer]] = []
    for wrong, mistake in expected.mistakes(first, did.outcomes[first]):
        failed = [name for name, one in mistake.outcomes.items() if not same(one, expected.outcomes[name])]
        alike = [name for name in failed if same(did.outcomes[name], mistake.outcomes[name])]
        if first in alike and all(name in alike or did.outcomes[name].raised for name in failed):
            fitting.append((len(alike), wrong))
    return max(fitting, key=lambda one: one[0])[1] if fitting else None


def does_the_same(one: Observation, other: Observation) -> bool:
    """Whether two files did the same in every check."""
    return one.outcomes.keys() == other.outcomes.keys() and all(
        same(outcome, other.outcomes[name]) for name, outcome in one.outcomes.items()
    )


def _result(one: Check, did: Outcome | None, expected: Outcome) -> Result:
    if did is None or did.raised is not None:
        return Result(one, False, did, expected, None)
    found = difference(did.value, expected.value)
    return Result(one, found is None, did, expected, found)
