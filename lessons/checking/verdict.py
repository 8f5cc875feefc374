"""Checking: in every check, a learner's file must do what the solution does.

Expected results are not written down; the solution produces them. A known wrong answer is recognised by what it does
as well, so it makes no difference how the learner's file is written.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lessons.checking.observe import SECONDS, End, Observation, Outcome, Raised, observe
from lessons.checking.plain_data import Difference, difference
from lessons.model.header import LessonError
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


class Expected(NamedTuple):
    """What the solution of an exercise does, and what each known wrong answer does instead."""

    outcomes: dict[str, Outcome]
    mistakes: tuple[tuple[WrongAnswer, Observation], ...]


def expected_of(exercise: Exercise) -> Expected:
    """What a learner's file is compared with. Takes about half a second; many files can share the result.

    Raises:
        LessonError: the exercise itself is at fault: its solution cannot be run.
    """
    solution, *mistakes = observe(exercise, [exercise.solution, *(wrong.path for wrong in exercise.wrong_answers)])
    return Expected(
        _expected(exercise, solution), tuple(zip(exercise.wrong_answers, mistakes, strict=True))
    )  # fmt: skip


def check(
    exercise: Exercise, file: Path, *, seconds: float = SECONDS, expected: Expected | None = None, start: str = ""
) -> Verdict:
    """Check a learner's file. Takes about half a second, or at most the given number of seconds longer.

    Args:
        exercise: the exercise.
        file: the learner's file.
        seconds: the time limit.
        expected: what it is compared with, if that is known already.
        start: the text that the learner began with, if that is not the exercise as shipped.

    Raises:
        LessonError: the exercise itself is at fault: its solution cannot be run.
        OSError: the learner's file cannot be read.
    """
    untouched = file.read_bytes() in (exercise.path.read_bytes(), start.encode())
    with ThreadPoolExecutor(2) as pool:
        own = pool.submit(observe, exercise, [file], seconds=seconds)
        if expected is None:
            expected = expected_of(exercise)
        (did,) = own.result()
    outcomes = expected.outcomes
    results = tuple(_result(one, did.outcomes.get(one.name), outcomes[one.name]) for one in exercise.checks)
    ended_in = {one.name: one for one in exercise.checks}.get(did.during or "")
    passed = all(result.passed for result in results)
    return Verdict(
        results=results,
        broken=did.broken,
        ended=did.ended,
        during=ended_in if did.ended != "finished" else None,
        status=did.status,
        output=did.output,
        untouched=untouched,
        wrong_answer=None if passed else _known_mistake(did, expected),
    )


def _known_mistake(did: Observation, expected: Expected) -> WrongAnswer | None:
    """The known wrong answer that a file matches: it fails the checks that the wrong answer fails, in the same way.

    Checks that the wrong answer passes are ignored. A check in which the file raises (from another mistake, or a part
    not written yet) matches any outcome, except that the first check that the file fails, which is reported in full,
    must match exactly. If several wrong answers match, the one that agrees in most checks wins.
    """
    if did.broken is not None or did.ended != "finished":
        return None
    first = next(name for name, right in expected.outcomes.items() if not _same(did.outcomes[name], right))
    fitting: list[tuple[int, WrongAnswer]] = []
    for wrong, mistake in expected.mistakes:
        failed = [name for name, one in mistake.outcomes.items() if not _same(one, expected.outcomes[name])]
        same = [name for name in failed if _same(did.outcomes[name], mistake.outcomes[name])]
        if first in same and all(name in same or did.outcomes[name].raised for name in failed):
            fitting.append((len(same), wrong))
    return max(fitting, key=lambda one: one[0])[1] if fitting else None


def does_the_same(one: Observation, other: Observation) -> bool:
    """Whether two files did the same in every check."""
    return one.outcomes.keys() == other.outcomes.keys() and all(
        _same(outcome, other.outcomes[name]) for name, outcome in one.outcomes.items()
    )


def _same(one: Outcome, other: Outcome) -> bool:
    if one.raised is None or other.raised is None:
        return one.raised is other.raised and difference(one.value, other.value) is None
    return (one.raised.type, one.raised.summary) == (other.raised.type, other.raised.summary)


def _expected(exercise: Exercise, solution: Observation) -> dict[str, Outcome]:
    missing = [one.name for one in exercise.checks if one.name not in solution.outcomes]
    if missing or solution.broken:
        why = solution.broken.message if solution.broken else f"it does not get through {missing[0]}"
        raise LessonError(f"{exercise.solution}: the solution itself cannot be run: {why}")
    for name, outcome in solution.outcomes.items():
        if outcome.raised is not None:
            raise LessonError(f"{exercise.check}: {name} raises on the solution: {outcome.raised.message}")
    return solution.outcomes


def _result(one: Check, did: Outcome | None, expected: Outcome) -> Result:
    if did is None or did.raised is not None:
        return Result(one, False, did, expected, None)
    found = difference(did.value, expected.value)
    return Result(one, found is None, did, expected, found)
