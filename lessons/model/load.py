"""Reading a course: a folder of lessons, each a folder of files.

    01_tape_of_numbers/
        lesson.md     a header in TOML between two lines of +++, then the text
        program.py    the program that the learner steps through
        exercise.py   the file that the learner completes
        solution.py   one right answer; its behaviour is what the checks expect
        check.py      functions that call the learner's module and return its results; `at_random(exercise, random)`
                      calls it on input from a numpy generator, which tells equivalent mutants from survivors;
                      `with_writer(exercise, writer)` lets the learner's own engine write a recording
        hints.md      hints from vague to explicit, separated by lines of ---
        right/*.py    other right answers, written differently; the docstring says how they differ
        wrong/*.py    known wrong answers; the docstring is the diagnosis
        variations.py  functions that make small tasks on the same idea; optional, see `lessons.model.variations`

A lesson that `continues` an earlier one has that lesson's solution in its exercise and its solution, whole. Its right
and wrong answers hold only the pieces that differ from the solution: see `lessons.model.growing`.

See `lessons.model.header` for the keys of the header.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lessons.model.header import LessonError, read_header
from lessons.model.lesson import (
    AT_RANDOM,
    WITH_WRITER,
    Check,
    Course,
    Exercise,
    Lesson,
    RightAnswer,
    Variation,
    WrongAnswer,
)

COURSE = Path(__file__).resolve().parent.parent / "course"
"""The course that comes with microtape."""

IN_PYTORCH = "## In PyTorch"  # the section that every lesson ends with


def load_course(folder: Path = COURSE) -> Course:
    """All lessons in a folder, in the order of their numbers.

    Raises:
        LessonError: the folder has no lessons, or one of them is invalid.
    """
    lessons: list[Lesson] = []
    for path in lesson_files(folder):
        lessons.append(_load_lesson(path.parent, {lesson.name: lesson for lesson in lessons}))
    if not lessons:
        raise LessonError(f"{folder}: no lessons here; a lesson is a folder such as 01_name that contains a lesson.md")
    for one, other in itertools.pairwise(lessons):
        if _number(one.folder) == _number(other.folder):
            raise LessonError(f"{other.folder}: another lesson has that number, {one.folder.name}: renumber one")
    names = [lesson.name for lesson in lessons]
    for index, lesson in enumerate(lessons):
        if names.count(lesson.name) > 1:
            raise LessonError(f"{lesson.folder}: there is another lesson called {lesson.name}: rename one")
        for needed in lesson.needs:
            if needed not in names[:index]:
                path = lesson.folder / "lesson.md"
                raise LessonError(f"{path}: needs {needed!r}, but no earlier lesson has that name")
    done: dict[str, Lesson] = {}
    for number, lesson in enumerate(lessons, 1):
        numbered = replace(lesson, number=number, prose=_with_needs(lesson, names))
        if lesson.continues is not None:
            numbered = replace(numbered, continues=done[lesson.continues.name])
        done[lesson.name] = numbered
    return Course(tuple(done.values()))


def lesson_files(folder: Path) -> list[Path]:
    """The `lesson.md` of each lesson in a folder, in the order of their numbers."""
    return sorted(sorted(folder.resolve().glob("*/lesson.md")), key=lambda path: _number(path.parent))


def _with_needs(lesson: Lesson, names: list[str]) -> str:
    """The text, with a line below the title that lists the numbers of the lessons it builds on."""
    if not lesson.needs:
        return lesson.prose
    *first, last = (str(number) for number in sorted(names.index(needed) + 1 for needed in lesson.needs))
    named = f"lessons {', '.join(first)} and {last}" if first else f"lesson {last}"
    title, _, text = lesson.prose.partition("\n")
    return f"{title}\n\n*Builds on {named}.*\n{text}"


def _number(folder: Path) -> int:
    """The number that lessons are sorted by. Numbers may have gaps, which leave room for later lessons."""
    number = folder.name.partition("_")[0]
    return int(number) if number.isdecimal() else 0  # a name that will be refused


def _load_lesson(folder: Path, earlier: Mapping[str, Lesson]) -> Lesson:
    if not re.fullmatch(r"[0-9]{1,3}_[a-z0-9_]+", folder.name):
        raise LessonError(f"{folder}: name the folder by number and name, as in 01_tape_of_numbers")
    path = folder / "lesson.md"
    header, prose = read_header(path, _read(path))
    if IN_PYTORCH not in prose:
        raise LessonError(f"{path}: there is no section {IN_PYTORCH!r}: say how PyTorch does it")
    if header.continues and header.continues not in earlier:
        raise LessonError(f"{path}: continues {header.continues!r}, but no earlier lesson has that name")
    continues = earlier.get(header.continues)
    return Lesson(
        number=0,
        name=folder.name.partition("_")[2],
        title=header.title,
        summary=header.summary,
        folder=folder,
        prose=prose,
        program=_file(folder, "program.py"),
        passes=header.passes,
        predictions=header.predictions,
        needs=header.needs,
        introduces=header.introduces,
        explains=header.explains,
        pytorch=header.pytorch,
        wrong_engine=header.wrong_engine,
        exercise=_exercise(folder, continues.exercise if continues is not None else None),
        variations=_variations(folder / "variations.py"),
        continues=continues,
    )


def _variations(path: Path) -> tuple[Variation, ...]:
    return tuple(Variation(one.name, path) for one in _functions(path)) if path.is_file() else ()


def _exercise(folder: Path, continues: Exercise | None) -> Exercise:
    check = _file(folder, "check.py")
    hints = tuple(hint.strip() for hint in re.split(r"^---[ \t]*$", _read(folder / "hints.md"), flags=re.MULTILINE))
    if not all(hints):
        raise LessonError(f"{folder / 'hints.md'}: a hint is empty")
    return Exercise(
        path=_file(folder, "exercise.py"),
        solution=_file(folder, "solution.py"),
        check=check,
        checks=_checks(check),
        has_random_inputs=any(one.name == AT_RANDOM for one in _functions(check)),
        has_writer=any(one.name == WITH_WRITER for one in _functions(check)),
        right_answers=tuple(
            RightAnswer(path.stem, path, _docstring(path, _parse(path), "begin with a docstring: what is different"))
            for path in sorted((folder / "right").glob("*.py"))
        ),
        wrong_answers=tuple(_wrong_answer(path) for path in sorted((folder / "wrong").glob("*.py"))),
        hints=hints,
        continues=continues,
    )


def _functions(path: Path) -> list[ast.FunctionDef]:
    return [one for one in _parse(path).body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]


def _checks(path: Path) -> tuple[Check, ...]:
    functions = [one for one in _functions(path) if one.name not in (AT_RANDOM, WITH_WRITER)]
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
