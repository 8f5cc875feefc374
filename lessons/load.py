"""Reading a course: a folder of lessons, each a folder of files.

    01_tape_of_numbers/
        lesson.md     a header in TOML between two lines of +++, then the text
        program.py    what the learner steps through
        exercise.py   what the learner completes
        solution.py   one right answer; what it does is what is expected
        check.py      functions that are given the learner's module and return what it did
        hints.md      hints from faint to plain, between lines of ---
        wrong/*.py    known wrong answers; the docstring says what is wrong

The header has a `title` and a `summary`, may have `passes` (which passes of the program are recorded: "2", "1-3" or
"all"), and any number of `[[predict]]` tables with `pass` (1 if left out), `after`, `ask`, `answer` and `because`:
see `Prediction`.
"""

from __future__ import annotations

import ast
import itertools
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from lessons.model import Check, Course, Exercise, Lesson, Prediction, WrongAnswer
from microtape.errors import RecordingError
from microtape.recording.run import parse_passes

COURSE = Path(__file__).resolve().parent / "course"
"""The course that comes with microtape."""

IN_PYTORCH = "## In PyTorch"  # the section that every lesson ends with


class LessonError(ValueError):
    """A lesson is not complete or cannot be read; says which file and what to do."""


def load_course(folder: Path = COURSE) -> Course:
    """All the lessons in a folder, in the order of their numbers.

    Raises:
        LessonError: the folder has no lessons, or one of them is not as it should be.
    """
    folders = sorted(path.parent for path in folder.glob("*/lesson.md"))
    lessons = sorted((_load_lesson(one) for one in folders), key=lambda lesson: _number(lesson.folder))
    if not lessons:
        raise LessonError(f"{folder}: no lessons here; a lesson is a folder such as 01_name with a lesson.md in it")
    for one, other in itertools.pairwise(lessons):
        if _number(one.folder) == _number(other.folder):
            raise LessonError(
                f"{other.folder}: there is another lesson of that number, {one.folder.name}: renumber one"
            )
    names = [lesson.name for lesson in lessons]
    for lesson in lessons:
        if names.count(lesson.name) > 1:
            raise LessonError(f"{lesson.folder}: there is another lesson called {lesson.name}: rename one")
    return Course(tuple(replace(lesson, number=number) for number, lesson in enumerate(lessons, 1)))


def _number(folder: Path) -> int:
    """What lessons are sorted by. Numbers may be left out, so that there is room for lessons to come."""
    return int(folder.name.partition("_")[0])


def _load_lesson(folder: Path) -> Lesson:
    if not re.fullmatch(r"[0-9]{1,3}_[a-z0-9_]+", folder.name):
        raise LessonError(f"{folder}: call the folder by number and name, such as 01_tape_of_numbers")
    path = folder / "lesson.md"
    header, prose = _split(path)
    known = {"title", "summary", "passes", "predict"}
    if unknown := sorted(header.keys() - known):
        raise LessonError(f"{path}: unknown in the header: {', '.join(unknown)} (known: {', '.join(sorted(known))})")
    if IN_PYTORCH not in prose:
        raise LessonError(f"{path}: there is no section {IN_PYTORCH!r}: say what PyTorch calls it")
    return Lesson(
        number=0,
        name=folder.name.partition("_")[2],
        title=_text(path, header, "title"),
        summary=_text(path, header, "summary"),
        folder=folder,
        prose=prose,
        program=_file(folder, "program.py"),
        passes=_passes(path, header.get("passes")),
        predictions=tuple(_prediction(path, table) for table in _tables(path, header)),
        exercise=_exercise(folder),
    )


def _split(path: Path) -> tuple[dict[str, Any], str]:
    """The header and the text below it."""
    parts = re.split(r"^\+\+\+[ \t]*$", _read(path), maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0].strip():
        raise LessonError(f"{path}: begin with a header between two lines of +++")
    try:
        return tomllib.loads(parts[1]), parts[2].strip() + "\n"
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{path}: the header is not TOML: {error}") from None


def _text(path: Path, table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise LessonError(f'{path}: the header needs {key} = "..."')
    return " ".join(value.split())


def _passes(path: Path, value: Any) -> str | None:
    if value is None:
        return None
    try:
        parse_passes(str(value))
    except RecordingError as error:
        raise LessonError(f"{path}: {error}") from None
    return str(value)


def _tables(path: Path, header: dict[str, Any]) -> list[dict[str, Any]]:
    tables = header.get("predict", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise LessonError(f"{path}: write each prediction as a table of its own under [[predict]]")
    return tables


def _prediction(path: Path, table: dict[str, Any]) -> Prediction:
    after, number = table.get("after"), table.get("pass", 1)
    if type(after) is not int or after < 0:
        raise LessonError(f"{path}: a prediction needs after = a number of steps, 0 for before the first")
    if type(number) is not int or number < 1:
        raise LessonError(f"{path}: a prediction's pass is a number from 1, not {number!r}")
    answer = _text(path, table, "answer")
    if not re.fullmatch(r"next|(gradient|grad) \S+", answer):
        raise LessonError(f'{path}: a prediction\'s answer is "next", "gradient NAME" or "grad NAME", not {answer!r}')
    return Prediction(number, after, _text(path, table, "ask"), answer, _text(path, table, "because"))


def _exercise(folder: Path) -> Exercise:
    check = _file(folder, "check.py")
    hints = tuple(hint.strip() for hint in re.split(r"^---[ \t]*$", _read(folder / "hints.md"), flags=re.MULTILINE))
    if not all(hints):
        raise LessonError(f"{folder / 'hints.md'}: a hint is empty")
    return Exercise(
        path=_file(folder, "exercise.py"),
        solution=_file(folder, "solution.py"),
        check=check,
        checks=_checks(check),
        wrong_answers=tuple(_wrong_answer(path) for path in sorted((folder / "wrong").glob("*.py"))),
        hints=hints,
    )


def _checks(path: Path) -> tuple[Check, ...]:
    functions = [one for one in _parse(path).body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
    if not functions:
        raise LessonError(f"{path}: there is no check; write a function that takes the learner's module")
    return tuple(
        Check(one.name, _docstring(path, one, f"{one.name} needs a docstring, its title")) for one in functions
    )


def _wrong_answer(path: Path) -> WrongAnswer:
    return WrongAnswer(path.stem, path, _docstring(path, _parse(path), "begin with a docstring, the diagnosis"))


def _docstring(path: Path, tree: ast.Module | ast.FunctionDef, missing: str) -> str:
    text = ast.get_docstring(tree)
    if not text:
        raise LessonError(f"{path}: {missing}")
    return " ".join(text.split())


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(_read(path), str(path))
    except SyntaxError as error:
        raise LessonError(f"{path}: line {error.lineno}: {error.msg}") from None


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise LessonError(f"{folder}: {name} is missing")
    return path


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LessonError(f"{path.parent}: {path.name} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise LessonError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None
