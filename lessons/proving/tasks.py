"""Proves of the variations of a lesson that each is a task: its program runs, and its question can be answered."""

from __future__ import annotations

from collections.abc import Iterator

from lessons.checking.record import record_task
from lessons.model.answers import is_right
from lessons.model.header import LessonError
from lessons.model.lesson import Prediction
from lessons.model.predictions import is_given_away, right_answer
from lessons.model.variations import IMPORT, Task, make_task
from lessons.proving.evidence import Evidence
from lessons.proving.given_away import stands_in
from microtape.recording.model.model import Recording

FEWEST = 3
SEEDS = range(3)
WIDTH, HEIGHT = 76, 15  # of a program, above the question in a small terminal


def variations_are_tasks(evidence: Evidence) -> Iterator[str]:
    """A lesson has three variations or none; whatever the seed, each runs, fits, and tells its answer nowhere."""
    lesson = evidence.lesson
    if 0 < len(lesson.variations) < FEWEST:
        yield f"variations.py: write at least {FEWEST} variations, or none"
    for one in lesson.variations:
        tasks = [make_task(lesson, one.name, seed) for seed in SEEDS]
        if len({task.program for task in tasks}) == 1:
            yield f"variations.py: {one.name}: every seed makes the same program"
        for seed, task in zip(SEEDS, tasks, strict=True):
            try:
                found = [*defects(task, record_task(task)), *_does_not_fit(task)]
            except LessonError as error:
                found = [str(error)]
            yield from (f"variations.py: {one.name}, seed {seed}: {defect}" for defect in found)


def wrong_guesses_get_a_hint(evidence: Evidence) -> Iterator[str]:
    """The wrong answers to which a question has a hint are wrong, and no such hint tells the right one."""
    for prediction in evidence.lesson.predictions if any(one.wrong for one in evidence.lesson.predictions) else ():
        right = right_answer(evidence.recording, prediction)
        yield from (f"lesson.md: {prediction.ask!r}: {defect}" for defect in _bad_hints(prediction, right))


def defects(task: Task, recording: Recording) -> Iterator[str]:
    """What is wrong with a task, apart from its size."""
    prediction = task.prediction
    right = right_answer(recording, prediction)
    if prediction.answer != "succeeds" and not recording.passes[prediction.pass_number - 1].is_complete:
        yield "its backward fails"
    if right.startswith("%"):
        yield "it is answered by a row without a name"
    if is_given_away(recording, prediction):
        yield "ask it earlier, because the stepper already shows the answer"
    if (where := stands_in((task.program, prediction.ask, prediction.hint), prediction, right)) is not None:
        yield f"the answer, {right}, can be read: {where!r}"
    if not prediction.hint or not prediction.wrong:
        yield "give it a hint, and at least one plausible wrong answer with a hint of its own"
    yield from _bad_hints(prediction, right)


def _bad_hints(prediction: Prediction, right: str) -> Iterator[str]:
    shape = prediction.answer.startswith("shape")
    for wrong, hint in prediction.wrong:
        if is_right(wrong, right, shape=shape):
            yield f"{wrong} is given as a wrong answer, and it is right"
        if stands_in((hint,), prediction, right) is not None:
            yield f"the hint after {wrong} tells the answer, {right}"


def _does_not_fit(task: Task) -> Iterator[str]:
    lines = task.program.splitlines()
    if len(lines) > HEIGHT or max(map(len, lines)) > WIDTH:
        yield f"only {HEIGHT} lines of {WIDTH} characters fit above the question"
    if "\n\n" in task.program.removeprefix(IMPORT):
        yield "leave empty lines out of the program: it stands above its question in a small terminal"
