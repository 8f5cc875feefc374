"""How long a lesson takes: an estimate from its text and its exercise, for those who plan a class."""

from __future__ import annotations

import re

from lessons.model.lesson import Lesson

WORDS = 150  # read in a minute: code and formulas are read slowly
QUESTION = 1.0  # minutes for a question, and the steps before it
LINE = 0.75  # minutes for a line that the learner writes
WRONG_ENGINE = 3.0  # minutes to find the first wrong step of a wrong engine
STEP = 5  # minutes to which an estimate is rounded up


def minutes(lesson: Lesson) -> int:
    """The minutes for the text, the questions, the wrong engine and the exercise, rounded up to five."""
    shipped, solved = (path.read_text(encoding="utf-8") for path in (lesson.exercise.path, lesson.exercise.solution))
    task = "\n".join(line for line in shipped.splitlines() if line.startswith("#"))
    words = len(re.findall(r"\w+", f"{lesson.prose}\n{task}"))
    written = len([line for line in _code(solved) if line not in _code(shipped)])
    estimate = words / WORDS + len(lesson.predictions) * QUESTION + written * LINE
    if lesson.wrong_engine is not None:
        estimate += WRONG_ENGINE
    return int(-(-estimate // STEP) * STEP)


def _code(text: str) -> list[str]:
    """The lines of a file, without empty ones and comments."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
