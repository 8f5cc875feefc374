"""Tasks on the idea of a lesson: a small program and a question about it, with other numbers at every seed.

A variation is a function of the lesson's `variations.py`. It takes a numpy generator and returns a program, and what a
`[[predict]]` of the lesson's header holds:

    def shortcut(random):
        a, b = random.choice(range(2, 9), 2, replace=False)
        return {
            "program": f"...",
            "after": 0,
            "ask": "What will `x.grad` be?",
            "answer": "grad x",
            "hint": "Two paths lead from `z` to `x`.",
            "because": f"{b} through the product, and 1 straight from `z`.",
            "wrong": {f"{b}": "That is the path through the product alone."},
        }

The right answer is read from the recording of the program, as with every prediction. A lesson without variations has
its own questions as tasks, which keep their numbers.
"""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lessons.model.header import LessonError, read_prediction
from lessons.model.lesson import Lesson, Prediction

IMPORT = "import microtape as mt\n\n"
_QUESTION = "question_"


class Task(NamedTuple):
    """A program, and a question about it."""

    lesson: Lesson
    name: str
    program: str
    passes: str | None
    prediction: Prediction

    @property
    def key(self) -> str:
        """What the task is called on the command line."""
        return f"{self.lesson.name}/{self.name}"


def task_names(lesson: Lesson) -> tuple[str, ...]:
    """The tasks of a lesson: its variations, or its own questions if there are none."""
    if lesson.variations:
        return tuple(one.name for one in lesson.variations)
    return tuple(f"{_QUESTION}{number}" for number, _ in enumerate(lesson.predictions, 1))


def tasks_about(lesson: Lesson, missed: Prediction) -> tuple[str, ...]:
    """The tasks that come back when a question of a lesson was missed: its variations, or else the question itself."""
    names = task_names(lesson)
    return names if lesson.variations else (names[lesson.predictions.index(missed)],)


def make_task(lesson: Lesson, name: str, seed: int) -> Task:
    """The task of that name; a seed always makes the same one.

    Raises:
        LookupError: the lesson has no such task; the message is for the user.
        LessonError: the variation cannot be made.
    """
    names = task_names(lesson)
    if name not in names:
        raise LookupError(f"lesson {lesson.number} has no task {name!r}: it has {', '.join(names) or 'none'}")
    if not lesson.variations:
        prediction = lesson.predictions[names.index(name)]
        return Task(lesson, name, lesson.program.read_text(encoding="utf-8"), lesson.passes, prediction)
    path = lesson.variations[0].path
    table = _made(path, name, seed)
    program = table.pop("program", None)
    if not isinstance(program, str):
        raise LessonError(f"{path}: {name} returns no program")
    return Task(lesson, name, f"{IMPORT}{program.strip()}\n", "all", read_prediction(path, table))


def _made(path: Path, name: str, seed: int) -> dict[str, Any]:
    """What a variation returns for a seed."""
    space: dict[str, Any] = {"__name__": path.stem, "__file__": str(path), "__builtins__": builtins}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        table = space[name](np.random.default_rng(seed))
    except Exception as error:
        raise LessonError(f"{path}: {name} cannot be made: {type(error).__name__}: {error}") from None
    if not isinstance(table, dict):
        raise LessonError(f"{path}: {name} returns no dict")
    return dict(table)
