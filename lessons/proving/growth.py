"""Proves of a lesson that continues an earlier one that nothing a learner wrote is thrown away."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lessons.checking.observe import observe
from lessons.model.growing import MAIN, TOP, changed, grown, pieces
from lessons.proving.evidence import Evidence

REWRITTEN = 2  # lines of one piece that a lesson may ask to write anew


def grows_from_the_lesson_before(evidence: Evidence) -> Iterator[str]:
    """The solution of the lesson before stands in the exercise, and in the solution but for a line or two."""
    exercise = evidence.lesson.exercise
    if exercise.continues is None:
        return
    before = pieces(exercise.continues.solution.read_text(encoding="utf-8"))
    shipped = pieces(exercise.path.read_text(encoding="utf-8"))
    solved = pieces(exercise.solution.read_text(encoding="utf-8"))
    for name, piece in before.items():
        if name in (TOP, MAIN) or name in _classes(before):
            continue
        if name not in shipped or shipped[name].lines != piece.lines:
            yield f"exercise.py: {name} is not that of the earlier solution"
        kept = difflib.SequenceMatcher(None, piece.lines, solved[name].lines if name in solved else (), autojunk=False)
        lost = len(piece.lines) - sum(block.size for block in kept.get_matching_blocks())
        if lost > REWRITTEN:
            yield f"solution.py: {lost} lines of {name} in the earlier solution are gone"
    if not [one for one in changed(_solution(evidence), _before(evidence)) if one.name not in (TOP, MAIN)]:
        yield "solution.py: there is nothing new in it"


def any_right_answer_can_go_on(evidence: Evidence) -> Iterator[str]:
    """Every right answer of the lesson before is a start that fails, and passes with what is new in the solution."""
    exercise = evidence.lesson.exercise
    if exercise.continues is None or not evidence.can_judge:
        return
    shipped = exercise.path.read_text(encoding="utf-8")
    for right in exercise.continues.right_answers:
        start = grown(exercise.continues.text(right.path), _before(evidence), shipped)
        for text, passes in ((start, False), (grown(start, shipped, _solution(evidence)), True)):
            with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
                file = Path(folder) / "start.py"
                file.write_text(text, encoding="utf-8")
                (seen,) = observe(exercise, [file])
                if evidence.passes(seen) != passes:
                    what = "is not solved by what is new in the solution" if passes else "already passes"
                    yield f"exercise.py: continued from {right.path.name} of the lesson before, it {what}"


def _solution(evidence: Evidence) -> str:
    return evidence.lesson.exercise.solution.read_text(encoding="utf-8")


def _before(evidence: Evidence) -> str:
    assert evidence.lesson.exercise.continues is not None
    return evidence.lesson.exercise.continues.solution.read_text(encoding="utf-8")


def _classes(known: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in known if "." in name}
