"""For teachers: `microtape learn verify` proves a course, `microtape learn grade` checks the files of a class."""

from __future__ import annotations

from pathlib import Path

from lessons import Course, load_course
from lessons.checking.grade_class import Graded
from lessons.checking.grade_class import grade as graded
from lessons.checking.verdict_report import report, short
from tui.shell.exits import CommandError, Exit
from tui.shell.printing import put, put_error, put_json
from viz.basics.characters import to_ascii


def verify(folder: str) -> int:
    """Run the proofs of our own lessons on every lesson of a folder. Prints one line for each failure.

    Raises:
        CommandError: there is no such folder.
    """
    from lessons.proving.evidence import Evidence
    from lessons.proving.proofs import COURSE_PROOFS, PROOFS, failures

    path = _folder(folder)
    course = load_course(path)
    wrong = 0
    for lesson in course:
        evidence = Evidence(lesson, course)
        lines = [line for proof in PROOFS for line in failures(proof, evidence)]
        for line in lines:
            put(f"{lesson.folder.name}: {line}", flush=True)
        wrong += len(lines)
    for line in (line for proof in COURSE_PROOFS for line in proof(course)):
        put(line)
        wrong += 1
    count = f"{len(course)} lesson{'s' if len(course) != 1 else ''}"
    if wrong:
        put_error(f"\n{count}, {wrong} problem{'s' if wrong != 1 else ''}")
        return Exit.NOT_SOLVED
    put(f"{count}: every claim holds, and the checkers catch every mistake that was tried")
    return Exit.OK


def grade(folder: str, course: Course, name: str, *, as_json: bool, ascii: bool, exit_code: bool) -> int:
    """Check the files of a class. With `exit_code`, the code is NOT_SOLVED unless all of them solve their exercise.

    Raises:
        CommandError: there are none.
    """
    path = _folder(folder)
    lesson = course.find(name) if name else None
    marks = ("ok", "x") if ascii else ("✓", "✗")
    results = []
    for one in graded(path, course, lesson):
        results.append(one)
        if not as_json:
            mark = marks[0] if one.passed else marks[1]
            line = short(f"{mark:2} {one.learner:20} {one.lesson.name:22} {_why(one)}".rstrip())
            put(to_ascii(line) if ascii else line, flush=True)
    if not results:
        where = f"{path}/NAME.py, or {path}/NAME/{lesson.name}.py" if lesson else f"{path}/NAME/LESSON.py"
        raise CommandError(f"{path}: no learner's file found; expected {where}")
    if as_json:
        put_json([one.as_json() for one in results], indent=1)
    else:
        solved = sum(one.passed for one in results)
        put(f"\n{solved} of {len(results)} files solve their exercise")
    return Exit.NOT_SOLVED if exit_code and not all(one.passed for one in results) else Exit.OK


def _why(one: Graded) -> str:
    """Why a file does not solve its exercise, in a few words; empty if it does."""
    verdict = one.verdict
    if verdict is None:
        return one.problem or ""
    if verdict.passed:
        return ""
    if verdict.untouched:
        return "as shipped"
    if verdict.broken is not None or (verdict.ended != "finished" and verdict.during is None):
        return f"cannot be run: {report(verdict)[1].text.strip()}"
    failed = next((result.check.title for result in verdict.results if not result.passed), "")
    if verdict.during is not None:
        return f"{failed}: {'does not end' if verdict.ended == 'time' else 'ends its process'}"
    return failed if verdict.wrong_answer is None else f"{failed} ({verdict.wrong_answer.name})"


def _folder(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_dir():
        raise CommandError(f"{name}: there is no such folder")
    return path
