"""Which task is next: of those that come back, or of one lesson's."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from lessons.learner.progress import Progress
from lessons.learner.reviews import Review, now
from lessons.model.lesson import Course, Lesson
from lessons.model.variations import Task, make_task, task_names


class TaskName(NamedTuple):
    """A task whose program has not been made."""

    lesson: Lesson
    name: str

    @property
    def key(self) -> str:
        """What the task is called on the command line."""
        return f"{self.lesson.name}/{self.name}"

    def make(self, progress: Progress) -> Task:
        """The task. Its numbers change with every answer to it. Raises LookupError if the lesson has none so named."""
        known = progress.of(self.lesson.name).reviews.get(self.name, Review())
        return make_task(self.lesson, self.name, known.answers)


def due_tasks(course: Course, progress: Progress) -> list[TaskName]:
    """The tasks that come back now, the longest due first. Of tasks due together, the lessons take turns."""
    moment = now()
    found: list[tuple[datetime, int, int, TaskName]] = []
    for lesson in course:
        reviews = progress.of(lesson.name).reviews
        moments = [(reviews[name].when, name) for name in task_names(lesson) if name in reviews]
        due = [(when, name) for when, name in moments if when is not None and when <= moment]
        found += [(when, turn, lesson.number, TaskName(lesson, name)) for turn, (when, name) in enumerate(due)]
    return [task for _, _, _, task in sorted(found, key=lambda one: one[:3])]


def next_due(course: Course, progress: Progress) -> datetime | None:
    """When the next task comes back; None if none does."""
    records = [(progress.of(lesson.name).reviews, task_names(lesson)) for lesson in course]
    moments = [reviews[name].when for reviews, names in records for name in names if name in reviews]
    return min((moment for moment in moments if moment is not None), default=None)


def task_to_practise(lesson: Lesson, progress: Progress, after: str = "") -> TaskName:
    """The task of a lesson that was answered least, or one that is due, but not the same one again.

    Raises:
        LookupError: the lesson has no tasks.
    """
    reviews, moment = progress.of(lesson.name).reviews, now()

    def order(name: str) -> tuple[bool, bool, int]:
        review = reviews.get(name, Review())
        return name == after, not review.is_due(moment), review.answers

    names = sorted(task_names(lesson), key=order)
    if not names:
        raise LookupError(f"lesson {lesson.number} has no tasks")
    return TaskName(lesson, names[0])
