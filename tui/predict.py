"""Guess, then step: the stepper of a lesson asks before it shows some of the steps."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from lessons.model import Prediction
from lessons.predict import is_right, right_answer
from microtape.recording.model import Recording
from tui.stepper import StepperScreen


class LessonStepper(StepperScreen):
    """A stepper that asks each question once, when the step it is about comes up for the first time."""

    def __init__(self, recording: Recording, predictions: tuple[Prediction, ...], *, ascii: bool = False) -> None:
        super().__init__(recording, ascii=ascii)
        self._open = {(one.pass_number - 1, one.after): one for one in predictions}

    def action_move(self, moments: int) -> None:
        """Step on, after an answer where there is a question."""
        cursor = self.cursor
        question = None
        if cursor is not None and moments > 0 and not cursor.is_forward and cursor.timeline.pass_ is not None:
            question = self._open.pop((cursor.timeline.pass_index, cursor.steps_done), None)
        if question is None or cursor is None or cursor.timeline.pass_ is None:
            super().action_move(moments)
            return
        right = right_answer(cursor.recording, question)
        self.app.push_screen(PredictScreen(question, right), lambda _: super(LessonStepper, self).action_move(moments))


class PredictScreen(ModalScreen[None]):
    """Asks one question, says whether the answer is right and why, and closes. An empty answer shows the right one."""

    DEFAULT_CSS = """
    PredictScreen { align: center middle; }
    PredictScreen > Vertical {
        width: 70; max-width: 100%; height: auto; border: round $accent; background: $surface; padding: 1 2;
    }
    PredictScreen Input { margin: 1 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "skip", show=False)]

    def __init__(self, question: Prediction, right: str) -> None:
        super().__init__()
        self._question = question
        self._right = right
        self._answered = False

    def compose(self) -> ComposeResult:
        """The question, a field, and room for what is to be said of the answer."""
        with Vertical() as box:
            box.border_title = "predict"
            box.border_subtitle = "Enter answers, Esc skips"
            yield Static(Content(self._question.ask))
            yield Input(placeholder="your guess; a wrong one costs nothing")
            yield Static(id="verdict")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """First what is right, then on to the step."""
        event.stop()
        if self._answered:
            self.dismiss()
            return
        self._answered = True
        right, answer = is_right(event.value, self._right), event.value.strip()
        said = ("Right", "bold $text-success") if right else ("Not quite" if answer else "It is", "bold $text-warning")
        verdict = Content.assemble(
            said, f": {self._right}. ", self._question.because, ("\n\nEnter: see it.", "$text-muted")
        )
        self.query_one("#verdict", Static).update(verdict)
