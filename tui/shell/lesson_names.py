"""The line that names the lesson about an error or a finding."""

from __future__ import annotations

from lessons.model.findings import LessonName, lesson_on, lesson_on_error
from microtape.recording.model.model import ErrorRecord, Recording


def lesson_on_kind(kind: str) -> str:
    """`Lesson 17 is about this: microtape learn in_place`, for a kind of finding; empty if no lesson is."""
    return _line(lesson_on(kind))


def lesson_of_error(recording: Recording, error: ErrorRecord | None = None) -> str:
    """The same line for an error: a given one, or the one that ended the program or its last pass."""
    if error is None:
        last = recording.passes[-1].error if recording.passes else None
        error = recording.error if recording.error is not None else last
    return _line(lesson_on_error(error.message)) if error is not None else ""


def _line(lesson: LessonName | None) -> str:
    return f"Lesson {lesson.number} is about this: microtape learn {lesson.name}" if lesson is not None else ""
