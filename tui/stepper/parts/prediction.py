"""Predict mode: a question before each step of backward, and a score of the right answers."""

from __future__ import annotations

from dataclasses import replace

from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.predict_screen import PredictScreen, question_about
from tui.time.cursor import StepCursor


class Prediction(Part[Stepper]):
    """Asks about the next step while `score` is not None."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.score: tuple[int, int] | None = None  # the number of right answers, and of all answers
        self._asked: StepCursor | None = None  # the moment whose question has been asked

    @key(
        "P", "predict each step, or stop predicting",
        help="predict: answer a question before each step; again: stop",
    )  # fmt: skip
    def predict(self) -> None:
        """Start asking a question before every step of backward, or stop."""
        self.stepper.stop_playing()
        before, self.score = self.score, ((0, 0) if self.score is None else None)
        self.stepper.changed()
        self.cursor = replace(self.cursor, hides_next=self.score is not None)
        if before is None:
            self.say(f"Predict: answer a question before each step. {self.stepper.key('predict')} stops.", 4)
        elif before[1]:
            self.say(f"{before[0]} of {before[1]} predictions were right.", 6)

    def before_step(self, cursor: StepCursor) -> PredictScreen | None:
        """The question about the next step, asked once per visit of this moment."""
        question = question_about(cursor) if self.score is not None and cursor is not self._asked else None
        if question is None:
            return None
        self._asked = cursor
        return PredictScreen(question, ascii=self.stepper.ascii)

    def answered(self, right: bool | None) -> None:
        """Count an answer; a question that was skipped does not count."""
        if right is not None and self.score is not None:
            self.score = self.score[0] + right, self.score[1] + 1
            self.stepper.changed()
