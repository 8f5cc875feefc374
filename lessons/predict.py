"""Predictions: the right answer to a question about the next step, read from the recording."""

from __future__ import annotations

from lessons.load import LessonError
from lessons.model import Prediction
from lessons.plain import RELATIVE
from microtape.recording.model import Pass, Recording, Value
from microtape.recording.words import format_value


def right_answer(recording: Recording, pass_: Pass, prediction: Prediction) -> str:
    """What a learner should have answered: the name of a node, or a number or array as the stepper writes it.

    Raises:
        LessonError: the recording does not have what the prediction asks for.
    """
    if prediction.answer == "next":
        if prediction.after >= len(pass_.steps):
            raise LessonError(f"a prediction asks what comes after step {prediction.after} of {len(pass_.steps)}")
        return recording.label(pass_.steps[prediction.after].node)
    name = prediction.answer.removeprefix("gradient ")
    return format_value(_gradient(recording, pass_, name), 60)


def is_right(answer: str, right: str) -> bool:
    """Whether an answer says what the right one says: the same name, or the same numbers."""
    given, wanted = answer.strip().strip("`'\"%.").casefold(), right.strip("%").casefold()
    if given == wanted:
        return True
    numbers, right_numbers = _numbers(given), _numbers(wanted)
    return (
        numbers is not None
        and right_numbers is not None
        and len(numbers) == len(right_numbers)
        and all(abs(a - b) <= max(RELATIVE, 0.01) * abs(b) for a, b in zip(numbers, right_numbers, strict=True))
    )


def _gradient(recording: Recording, pass_: Pass, name: str) -> Value:
    """What had arrived at the node with this label when it ran."""
    for step in pass_.steps:
        if recording.label(step.node) == name and step.grad_outputs and step.grad_outputs[0] is not None:
            return step.grad_outputs[0]
    raise LessonError(f"a prediction asks for the gradient of {name}, and no gradient arrives there")


def _numbers(text: str) -> list[float] | None:
    """The numbers of `6`, `-0.5` or `[1, 2]`; None if it is anything else."""
    try:
        return [float(part) for part in text.replace("[", " ").replace("]", " ").replace(",", " ").split()] or None
    except ValueError:
        return None
