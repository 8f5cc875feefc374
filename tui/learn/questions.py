"""The questions of a lesson, each asked before a step of its program is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lessons.model.lesson import Prediction
from lessons.model.predictions import right_answer
from tui.learn.course_text import terminal_text
from tui.stepper.predict_screen import PredictScreen, Question
from tui.time.cursor import StepCursor

HINTS = {
    "next": "A leaf goes as soon as its gradient is complete. Of the other rows, the one that was recorded last goes.",
    "gradient": "Each node sends the gradient that it received, times its own derivative. Several gradients add up.",
    "shape": "A gradient has the shape of its tensor.",
    "grad": "What arrives at a leaf is added to the .grad that is there.",
    "changes": "Which leaves does this pass reach, and does it store anything in them?",
    "succeeds": "Is everything that the steps need still as it was when it was saved?",
    "inside": "Follow the lines of the function one by one.",
}
"""The hint about each kind of answer, for a prediction without one of its own."""


class Questions:
    """The questions of a lesson that have not been asked yet. Each is asked once, before its step is first shown."""

    def __init__(
        self,
        predictions: tuple[Prediction, ...],
        *,
        missed: Callable[[Prediction], None] | None = None,
        ascii: bool = False,
    ) -> None:
        self._open = list(predictions)
        self._asked: Prediction | None = None  # the last one
        self._missed = missed
        self._ascii = ascii

    def before_step(self, cursor: StepCursor) -> PredictScreen | None:
        """A dialog with the first open question about the next step, or None."""
        if cursor.next_node is None or not (left := self._about(cursor)):
            return None
        question = left[0]
        self._open.remove(question)
        self._asked = question
        return PredictScreen(asked(question, cursor, ascii=self._ascii))

    def answered(self, right: bool | None) -> None:
        """Tell which question was missed. It is not asked again here, but comes back in a review."""
        if right is False and self._missed is not None and self._asked is not None:
            self._missed(self._asked)

    def without_answers(self, cursor: StepCursor) -> StepCursor:
        """The same moment, with the next node hidden if an open question asks for it."""
        return replace(cursor, hides_next=any(one.answer == "next" for one in self._about(cursor)))

    def _about(self, cursor: StepCursor) -> list[Prediction]:
        """The open questions about the next step."""
        here = (cursor.timeline.pass_index + 1, cursor.steps_done)
        return [] if cursor.is_forward else [one for one in self._open if (one.pass_number, one.after) == here]


def asked(prediction: Prediction, cursor: StepCursor, *, ascii: bool) -> Question:
    """The question of a prediction about the next step. Its right answer is read from the recording."""
    kind, _, name = prediction.answer.partition(" ")
    return Question(
        ask=terminal_text(prediction.ask, ascii=ascii),
        right=right_answer(cursor.recording, prediction, ascii=ascii),
        because=terminal_text(prediction.because, ascii=ascii),
        kind="order" if kind == "next" else "shape" if kind == "shape" else "number",
        also=(f"%{cursor.next_node}",) if kind == "next" else (),
        hint=terminal_text(prediction.hint or HINTS[kind], ascii=ascii),
        about=name if kind in ("gradient", "grad", "shape") else "",
        wrong=tuple((answer, terminal_text(hint, ascii=ascii)) for answer, hint in prediction.wrong),
    )
