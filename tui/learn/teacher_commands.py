"""For teachers: `learn verify` proves a course, `new` begins a lesson, `grade` and `report` check a class's files."""

from __future__ import annotations

import csv
import io
import shlex
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path

from lessons import Course, Lesson, load_course
from lessons.checking.class_report import CSV_COLUMNS, STATES, ClassReport
from lessons.checking.grade_class import Graded, left_out
from lessons.checking.grade_class import grade as graded
from lessons.checking.verdict_report import short
from lessons.model.template import TODO, new_lesson
from tui.shell.exits import CommandError, Exit
from tui.shell.printing import put, put_error, put_json
from tui.shell.progress import status_line
from viz.basics.characters import to_ascii

NAMED = 5  # at most so many files that are not checked are named


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


def grade(folder: str, course: Course, name: str, *, as_json: bool, as_csv: bool, ascii: bool, exit_code: bool) -> int:
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
        if not (as_json or as_csv):
            mark = marks[0] if one.passed else marks[1]
            line = short(f"{mark:2} {one.learner:20} {one.lesson.name:22} {_why(one)}".rstrip())
            put(to_ascii(line) if ascii else line, flush=True)
    if not results:
        raise CommandError(_no_files(path, lesson))
    if as_json:
        put_json([one.as_json() for one in results], indent=1)
    elif as_csv:
        _put_csv(ClassReport.of(results))
    else:
        solved = sum(one.passed for one in results)
        put(f"\n{solved} of {len(results)} files solve their exercise")
    _say_left_out(path, course, lesson)
    return Exit.NOT_SOLVED if exit_code and not all(one.passed for one in results) else Exit.OK


def new(name: str, course: str | None) -> int:
    """Begin a lesson: write its template into the course in that folder, or in the current one.

    Raises:
        CommandError: there is no name.
        LessonError, OSError: it cannot be a lesson's name, or cannot be written.
    """
    if not name:
        raise CommandError("microtape learn new needs a name, as in: microtape learn new fan_in --path my_course")
    folder = new_lesson(Path(course or ".").expanduser(), name)
    put(f"{folder}: a new lesson. Begin with program.py, and write over every {TODO}.")
    put(f"{shlex.join(['microtape', 'learn', 'verify', str(folder.parent)])}  says what is missing")
    return Exit.OK


def _why(one: Graded) -> str:
    """Why a file does not solve its exercise, with the name of a known mistake; empty if it does."""
    mistake = one.verdict.wrong_answer if one.verdict is not None else None
    return f"{one.why} ({mistake.name})" if mistake is not None else one.why


def class_report(folder: str, course: Course, name: str, *, as_json: bool, as_csv: bool, ascii: bool) -> int:
    """Check the files of a class, and report how it stands.

    Raises:
        CommandError: there are none.
    """
    path = _folder(folder)
    lesson = course.find(name) if name else None
    with status_line(f"checking the files in {folder} ...   Ctrl-C stops"):
        found = ClassReport.of(graded(path, course, lesson))
    if not found.standings:
        raise CommandError(_no_files(path, lesson))
    if as_json:
        put_json(found.as_json(), indent=1)
    elif as_csv:
        _put_csv(found)
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        for line in _report_lines(found):
            indent = " " * (len(line) - len(line.lstrip()) + 4)
            for part in textwrap.wrap(short(line), width, subsequent_indent=indent) or [""]:
                put(to_ascii(part) if ascii else part)
    _say_left_out(path, course, lesson)
    return Exit.OK


def _put_csv(found: ClassReport) -> None:
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([CSV_COLUMNS, *found.rows()])
    put(lines.getvalue().rstrip("\n"))


def _say_left_out(path: Path, course: Course, lesson: Lesson | None) -> None:
    """Name the files that were not checked, so that a wrong name does not pass for a missing file."""
    files = [short(str(file.relative_to(path))) for file in left_out(path, course, lesson)]
    if files:
        more = f", and {len(files) - NAMED} more" if len(files) > NAMED else ""
        put_error(f"not checked, because it is no LEARNER/LESSON.py: {', '.join(files[:NAMED])}{more}")


def _report_lines(found: ClassReport) -> Iterator[str]:
    """How a class stands, as text."""
    width = max(len("lesson"), *(len(one.lesson.name) for one in found.tallies))
    files = sum(one.state != "no file" for one in found.standings)
    yield f"{_number(len(found.learners), 'learner')}, {_number(files, 'file')}"
    yield ""
    yield f"{'lesson':{width}}  {'  '.join(STATES)}"
    for lesson, counts in found.tallies:
        yield f"{lesson.name:{width}}  {'  '.join(f'{counts[state]:>{len(state)}}' for state in STATES)}"
    if found.misconceptions:
        yield ""
        yield "misconceptions"
    for one in found.misconceptions:
        yield f"  {one.lesson.name}, {one.mistake.name}: {', '.join(one.learners)}"
        yield f"      {one.mistake.diagnosis}"
    if found.stuck:
        yield ""
        yield "who is stuck, and where"
    for standing in found.stuck:
        yield f"  {standing.learner}, {standing.lesson.name}: {standing.at}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _no_files(path: Path, lesson: Lesson | None) -> str:
    where = f"{path}/NAME.py, or {path}/NAME/{lesson.name}.py" if lesson else f"{path}/NAME/LESSON.py"
    return f"{path}: no learner's file found; expected {where}"


def _folder(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_dir():
        raise CommandError(f"{name}: there is no such folder")
    return path
