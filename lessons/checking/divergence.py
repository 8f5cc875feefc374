"""Where a learner's file goes wrong in time: its own recording, at the step where it parts from the solution's."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lessons.checking.checker import Verdict
from lessons.checking.record import record_check
from lessons.model.find import Moment, parting
from lessons.model.lesson import Check, Exercise
from microtape.recording.model.model import Recording

THE_ENGINES = "These steps are the engine's, in the last program that your code was compared with it on."


class Where(NamedTuple):
    """A recording of a learner's file in a check that it fails: the first of them in which backward is called."""

    check: Check
    is_first: bool  # no check that fails comes before it
    recording: Recording
    moment: Moment | None  # None: backward did the same, so the difference lies elsewhere

    def told(self) -> str:
        """The moment in words."""
        if self.moment is None:
            return "In its backward passes your code does what the solution does; the difference lies elsewhere."
        if self.moment.step < 0:
            return self.moment.what
        it = "It parts" if self.is_first else f"Where it goes back ({self.check.title}), it parts"
        one = f"step {self.moment.step + 1}"
        of = f" of pass {self.moment.pass_index + 1}" if len(self.recording.passes) > 1 else ""
        return f"{it} from the solution at {one}{of}: {self.moment.what}."


def where(exercise: Exercise, verdict: Verdict, file: Path) -> Where | None:
    """The recording of a check that the file fails; None if it fails none, or calls backward in none of them.

    Where the exercise is written without the engine, it is the engine that is watched: what a check compares it with.

    Takes about a second, since the file and the solution are run once more.
    """
    if "microtape" not in exercise.check.read_text(encoding="utf-8"):
        return None
    checks = failed(verdict)
    for check in checks:
        own = record_check(exercise, check, file)
        if own is None or not own.passes:
            continue
        is_first = check == checks[0]
        if "microtape" not in exercise.path.read_text(encoding="utf-8"):
            return Where(check, is_first, own, Moment(len(own.passes) - 1, -1, THE_ENGINES))
        expected = record_check(exercise, check, exercise.solution)
        if expected is not None:
            return Where(check, is_first, own, parting(own, expected))
    return None


def failed(verdict: Verdict) -> list[Check]:
    """The checks that the file fails, if it comes to their end; without those of which nothing is written yet."""
    if verdict.broken is not None or verdict.untouched or verdict.ended != "finished":
        return []
    return [result.check for result in verdict.results if not result.passed and not result.is_unwritten]
