"""Where a learner's file goes wrong in time: its own recording, at the step where it parts from the solution's."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lessons.checker import Verdict
from lessons.find import Moment, parting
from lessons.model import Check, Exercise
from lessons.record import record_check
from microtape.recording.model import Recording


class Where(NamedTuple):
    """A recording of a learner's file in the first check that it fails."""

    check: Check
    recording: Recording
    moment: Moment | None  # None: backward did the same, so the difference lies elsewhere

    def told(self) -> str:
        """The moment in words."""
        if self.moment is None:
            return "In its backward passes your code does what the solution does; the difference lies elsewhere."
        one = f"step {self.moment.step + 1}"
        of = f" of pass {self.moment.pass_index + 1}" if len(self.recording.passes) > 1 else ""
        return f"It parts from the solution at {one}{of}: {self.moment.what}."


def where(exercise: Exercise, verdict: Verdict, file: Path) -> Where | None:
    """The recording of the first check that the file fails; None if it fails none or no backward is called there.

    Takes about a second, since the file and the solution are run once more.
    """
    check = failed(verdict)
    if check is None or "microtape" not in exercise.check.read_text(encoding="utf-8"):
        return None
    own = record_check(exercise, check, file)
    expected = record_check(exercise, check, exercise.solution)
    if own is None or expected is None or not own.passes:
        return None
    return Where(check, own, parting(own, expected))


def failed(verdict: Verdict) -> Check | None:
    """The first check that the file fails, if it comes to its end."""
    if verdict.broken is not None or verdict.untouched or verdict.ended != "finished":
        return None
    return next((result.check for result in verdict.results if not result.passed), None)
