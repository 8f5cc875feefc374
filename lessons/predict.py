"""Predictions: the right answer to a question about the next step, read from the recording."""

from __future__ import annotations

from lessons.load import LessonError
from lessons.model import Prediction
from microtape.recording.model import Recording
from microtape.recording.words import format_value


def right_answer(recording: Recording, prediction: Prediction) -> str:
    """What a learner should have answered: the name of a node, or a number or array as the stepper writes it.

    Raises:
        LessonError: the recording does not have what the prediction asks for.
    """
    if prediction.pass_number > len(recording.passes):
        raise LessonError(f"a prediction asks about pass {prediction.pass_number} of {len(recording.passes)}")
    steps = recording.passes[prediction.pass_number - 1].steps
    if prediction.after >= len(steps):
        raise LessonError(f"a prediction asks what comes after step {prediction.after} of {len(steps)}")
    if prediction.answer == "next":
        return recording.label(steps[prediction.after].node)
    kind, _, name = prediction.answer.partition(" ")
    values = [
        step.grad_after if kind == "grad" else step.grad_outputs[0]
        for step in steps
        if recording.label(step.node) == name and step.grad_outputs
    ]
    if not values or values[0] is None:
        raise LessonError(f"a prediction asks for the {kind} of {name}, and there is none")
    return format_value(values[0], 60)


def is_right(answer: str, right: str) -> bool:
    """Whether an answer says what the right one says: the same name, or the same numbers to about two digits."""
    given, wanted = answer.strip().strip("`'\"%.").casefold(), right.strip("%").casefold()
    if given == wanted:
        return True
    numbers, right_numbers = _numbers(given), _numbers(wanted)
    return (
        numbers is not None
        and right_numbers is not None
        and len(numbers) == len(right_numbers)
        and all(abs(a - b) <= 0.01 * abs(b) for a, b in zip(numbers, right_numbers, strict=True))
    )


def _numbers(text: str) -> list[float] | None:
    """The numbers of `6`, `-0.5` or `[1, 2]`; None if it is anything else."""
    try:
        return [float(part) for part in text.replace("[", " ").replace("]", " ").replace(",", " ").split()] or None
    except ValueError:
        return None
