"""Grades a class: checks every learner's files in a folder, each in a separate process.

FOLDER/alice/fan_out.py         a folder for each learner, at any depth, with the file names of `microtape learn`
FOLDER/alice.py                 or, for a single lesson, a file for each learner
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lessons.checking.expected import Expected
from lessons.checking.verdict import Verdict, check
from lessons.checking.verdict_report import report
from lessons.model.lesson import Course, Lesson

AT_ONCE = 2  # files checked at the same time


class Graded(NamedTuple):
    """The result for one learner's file."""

    learner: str
    lesson: Lesson
    file: Path
    verdict: Verdict | None  # None: the file is missing or cannot be read
    problem: str | None = None

    @property
    def passed(self) -> bool:
        """Whether it solves the exercise."""
        return self.verdict is not None and self.verdict.passed

    @property
    def why(self) -> str:
        """Why the file does not solve its exercise: in most cases the first check that fails. Empty if it does."""
        verdict = self.verdict
        if verdict is None:
            return self.problem or ""
        if verdict.passed:
            return ""
        if verdict.untouched:
            return "as shipped"
        if verdict.broken is not None or (verdict.ended != "finished" and verdict.during is None):
            return f"cannot be run: {report(verdict)[1].text.strip()}"
        failed = next((result.check.title for result in verdict.results if not result.passed), "")
        if verdict.during is not None:
            return f"{failed}: {'does not end' if verdict.ended == 'time' else 'ends its process'}"
        return failed

    def as_json(self) -> dict[str, Any]:
        """The result as data for JSON."""
        found: dict[str, Any] = {
            "learner": self.learner,
            "lesson": self.lesson.name,
            "file": str(self.file),
            "passed": self.passed,
        }
        if self.verdict is None:
            return found | {"problem": self.problem}
        wrong = self.verdict.wrong_answer
        return found | {
            "untouched": self.verdict.untouched,
            "ended": self.verdict.ended,
            "checks": [{"name": one.check.name, "title": one.check.title, "passed": one.passed}
                       for one in self.verdict.results],
            "wrong_answer": wrong.name if wrong is not None else None,
            "report": [said.text for said in report(self.verdict)],
        }  # fmt: skip


def _submissions(folder: Path, course: Course, lesson: Lesson | None) -> Iterator[tuple[str, Lesson, Path]]:
    """The files in a folder, sorted: learner, lesson, path. With `lesson`, files at the top of the folder count too.

    Links are not followed, so that no learner hands in someone else's work by accident.
    """
    names = {one.name: one for one in course}
    for path in sorted(folder.rglob("*.py")):
        if path.is_symlink() or not path.is_file():
            continue
        place = path.relative_to(folder)
        if lesson is not None and len(place.parts) == 1:
            yield path.stem, lesson, path
        elif len(place.parts) > 1 and path.stem in names and (lesson is None or names[path.stem] is lesson):
            yield place.parts[0], names[path.stem], path


def left_out(folder: Path, course: Course, lesson: Lesson | None = None) -> list[Path]:
    """The Python files that are not checked: no lesson has their name, or they are in no learner's folder."""
    names = {one.name for one in course}
    return [
        path
        for path in sorted(folder.rglob("*.py"))
        if (path.stem not in names or path.parent == folder) and not (lesson is not None and path.parent == folder)
    ]


def missing(folder: Path, lesson: Lesson, found: Iterable[str]) -> Iterator[Graded]:
    """The learners who have a folder but no file for this lesson (links do not count)."""
    for name in sorted({place.name for place in folder.iterdir() if place.is_dir()} - set(found)):
        yield Graded(name, lesson, folder / name / f"{lesson.name}.py", None, "no file")


def grade(folder: Path, course: Course, lesson: Lesson | None = None) -> Iterator[Graded]:
    """Check every learner's file, in order; if a lesson is given, learners without a file for it come last.

    Raises:
        LessonError: a lesson itself is at fault.
    """
    found = list(_submissions(folder, course, lesson))
    expected: dict[str, Expected] = {}
    for _, one, _ in found:
        if one.name not in expected:
            expected[one.name] = _expected_of(one)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(partial(_grade, expected), found)
    if lesson is not None and found:
        yield from missing(folder, lesson, (learner for learner, _, _ in found))


def _expected_of(lesson: Lesson) -> Expected:
    """All that files are compared with, run now."""
    with Expected(lesson.exercise) as expected:
        assert expected.outcomes
        expected.run_mistakes()
    return expected


def _grade(expected: dict[str, Expected], submission: tuple[str, Lesson, Path]) -> Graded:
    learner, lesson, file = submission
    try:
        return Graded(learner, lesson, file, check(lesson.exercise, file, expected=expected[lesson.name]))
    except OSError as error:
        return Graded(learner, lesson, file, None, f"cannot be read: {error.strerror}")
