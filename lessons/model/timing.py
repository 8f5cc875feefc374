"""How long a lesson takes: an estimate from its text and its exercise, for those who plan a class."""

from __future__ import annotations

import re

from lessons.model.lesson import Lesson

WORDS = 150  # read in a minute: code and formulas are read slowly
QUESTION = 1.0  # minutes for a question, and the steps before it
LINE = 0.75  # minutes for a line that the learner writes
STEP = 5  # minutes to which an estimate is rounded up


def minutes(lesson: Lesson) -> int:
    """The minutes for the text, the questions and the exercise, rounded up to five."""
    words = len(re.findall(r"\w+", lesson.prose))
    shipped, solved = (
        _code(path.read_text(encoding="utf-8")) for path in (lesson.exercise.path, lesson.exercise.solution)
    )
    written = len([line for line in solved if line not in shipped])
    estimate = words / WORDS + len(lesson.predictions) * QUESTION + written * LINE
    return int(-(-estimate // STEP) * STEP)


def _code(text: str) -> list[str]:
    """The lines of a file, without empty ones and comments."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
