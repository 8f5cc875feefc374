"""What a learner's file is compared with: what the solution does, and what each known wrong answer does instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from lessons.checking.checking_process import CheckingProcess
from lessons.checking.observe import Observation, Outcome, Raised, observe
from lessons.checking.plain_data import Plain, difference
from lessons.model.header import LessonError
from lessons.model.lesson import Exercise, WrongAnswer

Mistakes = Sequence[tuple[WrongAnswer, Observation]]


class Expected:
    """Everything that is expected of an exercise's files. It is run when it is first needed, all in one process.

    A right answer needs the solution alone. Call `run_mistakes` before many files are checked, and `close` at the end.
    """

    def __init__(self, exercise: Exercise, process: CheckingProcess | None = None) -> None:
        self._exercise = exercise
        self._process = process if process is not None else CheckingProcess()
        self._names = [check.name for check in exercise.checks]
        self._mistakes: Mistakes | None = None

    def __enter__(self) -> Expected:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def stop(self) -> None:
        """End what runs now, from any thread. It then counts as a lesson that cannot be run."""
        self._process.kill()

    def close(self) -> None:
        """End the process. What has been run stays known."""
        self._process.close()

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """What the solution does in each check.

        Raises:
            LessonError: the exercise itself is at fault: its solution cannot be run.
        """
        (solution,) = observe(self._exercise, [self._exercise.solution], process=self._process, last=False)
        return _of_solution(self._exercise, solution)

    def run_mistakes(self) -> None:
        """Run all known wrong answers."""
        self._mistakes = self._run(self._exercise.wrong_answers, self._names)

    def mistakes(self, name: str, did: Outcome) -> Mistakes:
        """The known wrong answers that do this in the check of that name, which is the first that a file fails.

        They are run up to that check, or the first one that they fail, and only those that do the same there are run
        through the others: some checks take long.
        """
        if self._mistakes is not None:
            return _that_do(self._mistakes, name, did)
        names = self._names[: self._names.index(name) + 1]
        right = {one: self.outcomes[one].value for one in names[:-1]}
        similar = _that_do(self._run(self._exercise.wrong_answers, names, right), name, did)
        return similar if names == self._names else self._run([wrong for wrong, _ in similar], self._names)

    def _run(
        self, mistakes: Sequence[WrongAnswer], names: Sequence[str], right: Mapping[str, Plain] | None = None
    ) -> Mistakes:
        if not mistakes:
            return []
        files = [wrong.path for wrong in mistakes]
        observed = observe(self._exercise, files, names=names, right=right, process=self._process, last=False)
        return list(zip(mistakes, observed, strict=True))


def _that_do(mistakes: Mistakes, name: str, did: Outcome) -> Mistakes:
    return [(wrong, one) for wrong, one in mistakes if name in one.outcomes and same(one.outcomes[name], did)]


def same(one: Outcome, other: Outcome) -> bool:
    """Whether two files did the same in a check: nearly equal values, or the same exception."""
    if one.raised is None or other.raised is None:
        return one.raised is other.raised and difference(one.value, other.value) is None
    return _kind(one.raised) == _kind(other.raised)


def _kind(raised: Raised) -> tuple[str, str]:
    """An exception's type and message. A message that the file itself gives, each author words differently."""
    return raised.type, "" if raised.code.startswith(("raise ", "assert ")) else raised.summary


def _of_solution(exercise: Exercise, solution: Observation) -> dict[str, Outcome]:
    missing = [one.name for one in exercise.checks if one.name not in solution.outcomes]
    if missing or solution.broken:
        why = solution.broken.message if solution.broken else f"it does not get through {missing[0]}"
        raise LessonError(f"{exercise.solution}: the solution itself cannot be run: {why}")
    for name, outcome in solution.outcomes.items():
        if outcome.raised is not None:
            raise LessonError(f"{exercise.check}: {name} raises on the solution: {outcome.raised.message}")
    return solution.outcomes
