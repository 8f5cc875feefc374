"""The questions of a lesson, each asked before a step of its program is shown."""

from __future__ import annotations

from dataclasses import replace

from lessons.model.lesson import Prediction
from lessons.model.predictions import right_answer
from tui.learn.course_text import terminal_text
from tui.stepper.predict_screen import PredictScreen, Question
from tui.time.cursor import StepCursor


class Questions:
    """The questions of a lesson that have not been asked yet. Each is asked once, before its step is first shown."""

    def __init__(self, predictions: tuple[Prediction, ...], *, ascii: bool = False) -> None:
        self._open = list(predictions)
        self._ascii = ascii

    def before_step(self, cursor: StepCursor) -> PredictScreen | None:
        """A dialog with the first open question about the next step, or None."""
        if cursor.next_node is None or not (left := self._about(cursor)):
            return None
        question = left[0]
        self._open.remove(question)
        right = right_answer(cursor.recording, question, ascii=self._ascii)
        ask, because = (terminal_text(text, ascii=self._ascii) for text in (question.ask, question.because))
        return PredictScreen(Question(ask, right, because))

    def answered(self, right: bool | None) -> None:
        """Count nothing: a question of a lesson is asked once, whatever the answer."""

    def without_answers(self, cursor: StepCursor) -> StepCursor:
        """The same moment, with the next node hidden if an open question asks for it."""
        return replace(cursor, hides_next=any(one.answer == "next" for one in self._about(cursor)))

    def _about(self, cursor: StepCursor) -> list[Prediction]:
        """The open questions about the next step."""
        here = (cursor.timeline.pass_index + 1, cursor.steps_done)
        return [] if cursor.is_forward else [one for one in self._open if (one.pass_number, one.after) == here]
