"""Where a learner's file goes wrong: its recording, and the first step that differs from the solution's."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lessons.checking.compare_recordings import WrongStep, first_different_step, first_wrong_step
from lessons.checking.record import record_check, record_own_engine
from lessons.checking.verdict import Verdict
from lessons.model.lesson import Check, Exercise
from microtape.recording.model.model import Recording

ENGINE_STEPS = "These are the engine's own steps, in the last program on which your code was compared with it."


class Divergence(NamedTuple):
    """A recording of a learner's file in the first failing check that calls backward."""

    check: Check
    is_first: bool  # whether it is the first failing check
    recording: Recording
    step: WrongStep | None  # None: backward did the same, so the difference is elsewhere

    def in_words(self) -> str:
        """The divergence in words."""
        if self.step is None:
            return "The backward passes of your code match the solution's; the difference is elsewhere."
        if self.step.step < 0:
            return self.step.what
        differs = "Your code differs" if self.is_first else f"In the check {self.check.title!r}, your code differs"
        of_pass = f" of pass {self.step.pass_index + 1}" if len(self.recording.passes) > 1 else ""
        return f"{differs} from the solution at step {self.step.step + 1}{of_pass}: {self.step.what}."


def find_divergence(exercise: Exercise, verdict: Verdict, file: Path) -> Divergence | None:
    """The first failing check that calls backward, recorded; None if there is none.

    If the exercise does not use the engine, the recording shows the engine's own steps in the check.

    Takes about a second, because the file and the solution run once more.
    """
    if not may_have_steps(exercise):
        return None
    checks = failed_checks(verdict)
    if exercise.has_writer and checks and (found := _own_engine(exercise, checks[0], file)) is not None:
        return found
    for check in checks:
        own = record_check(exercise, check, file)
        if own is None or not own.passes:
            continue
        is_first = check == checks[0]
        if "microtape" not in exercise.path.read_text(encoding="utf-8"):
            return Divergence(check, is_first, own, WrongStep(len(own.passes) - 1, -1, ENGINE_STEPS))
        expected = record_check(exercise, check, exercise.solution)
        if expected is not None:
            return Divergence(check, is_first, own, first_different_step(own, expected))
    return None


def _own_engine(exercise: Exercise, check: Check, file: Path) -> Divergence | None:
    """The recording that the learner's own engine writes, if it goes wrong in it."""
    own, expected = record_own_engine(exercise, file), record_own_engine(exercise, exercise.solution)
    if own is None or expected is None or not own.passes:
        return None
    step = first_wrong_step(own, expected)
    if step is None:
        return None
    return Divergence(check, True, own, step._replace(what=step.what.rstrip(".")))


def own_engine(exercise: Exercise, file: Path) -> Divergence | None:
    """What the learner's own engine writes, from its beginning; None if it writes nothing."""
    own = record_own_engine(exercise, file)
    return None if own is None else Divergence(exercise.checks[-1], True, own, None)


def may_have_steps(exercise: Exercise) -> bool:
    """Whether there is anything to record when a check fails: whether the checks use the engine."""
    return "microtape" in exercise.check.read_text(encoding="utf-8")


def failed_checks(verdict: Verdict) -> list[Check]:
    """The checks that the file fails, without those whose part is not written yet; none if the file did not finish."""
    if verdict.broken is not None or verdict.untouched or verdict.ended != "finished":
        return []
    return [result.check for result in verdict.results if not result.passed and not result.is_unwritten]
