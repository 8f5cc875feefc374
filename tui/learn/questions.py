"""Questions of the course: guess, then step; and are you sure?"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from lessons.model.lesson import Prediction
from lessons.model.predict import right_answer
from tui.learn.course_text import terminal_text
from tui.stepper.predict import PredictScreen, Question
from tui.time.cursor import StepCursor


class Questions:
    """The predictions of a lesson that have not been asked yet. Each is asked once, when its step first comes up."""

    def __init__(self, predictions: tuple[Prediction, ...], *, ascii: bool = False) -> None:
        self._open = list(predictions)
        self._ascii = ascii

    def before_step(self, cursor: StepCursor) -> PredictScreen | None:
        """The first question about the step that follows, if there is one left."""
        if cursor.next_node is None or not (left := self._about(cursor)):
            return None
        question = left[0]
        self._open.remove(question)
        right = right_answer(cursor.recording, question, ascii=self._ascii)
        ask, because = (terminal_text(text, ascii=self._ascii) for text in (question.ask, question.because))
        return PredictScreen(Question(ask, right, because))

    def without_answers(self, cursor: StepCursor) -> StepCursor:
        """The same moment; where it is yet to be asked what runs next, it is not shown."""
        return replace(cursor, hides_next=any(one.answer == "next" for one in self._about(cursor)))

    def _about(self, cursor: StepCursor) -> list[Prediction]:
        """What is yet to be asked about the step that follows."""
        here = (cursor.timeline.pass_index + 1, cursor.steps_done)
        return [] if cursor.is_forward else [one for one in self._open if (one.pass_number, one.after) == here]


class ConfirmScreen(ModalScreen[bool]):
    """Asks before something that cannot be unseen or undone; y is yes, anything else is no."""

    DEFAULT_CSS = """
    ConfirmScreen { align: center middle; }
    ConfirmScreen > Static {
        width: 60; max-width: 100%; height: auto; border: round $warning; background: $surface; padding: 1 2;
        border-subtitle-color: $text-muted;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape,q,enter", "dismiss(False)", "no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question."""
        box = Static(Content(self._question))
        box.border_subtitle = "y yes · n no"
        yield box
