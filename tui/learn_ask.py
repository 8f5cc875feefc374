"""Questions of the course: guess, then step; and are you sure?"""

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
from tui.cursor import StepCursor
from tui.learn_text import marked


class Questions:
    """The predictions of a lesson that have not been asked yet. Each is asked once, when its step first comes up."""

    def __init__(self, predictions: tuple[Prediction, ...]) -> None:
        self._open = {(one.pass_number - 1, one.after): one for one in predictions}

    def before_step(self, cursor: StepCursor) -> PredictScreen | None:
        """The question about the step that follows, if there is one."""
        if cursor.is_forward or cursor.next_node is None:
            return None
        question = self._open.pop((cursor.timeline.pass_index, cursor.steps_done), None)
        return None if question is None else PredictScreen(question, right_answer(cursor.recording, question))


class PredictScreen(ModalScreen[None]):
    """Asks one question, says whether the answer is right and why, and closes. An empty answer shows the right one.

    It lies below what it asks about, so that one can look while thinking.
    """

    DEFAULT_CSS = """
    PredictScreen { align: center bottom; background: $background 0%; }
    PredictScreen > Vertical {
        width: 78; max-width: 100%; height: auto; border: round $accent; background: $surface; padding: 0 1;
        border-title-color: $text-accent; border-title-style: bold; border-subtitle-color: $text-muted;
    }
    PredictScreen Input, PredictScreen Input:focus {
        margin: 1 0; border: none; height: 1; padding: 0 1; background: $panel;
    }
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
            yield Static(marked(self._question.ask))
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
        self.query_one("#verdict", Static).update(
            Content.assemble(said, f": {self._right}. ", marked(self._question.because))
        )
        self.query_one(Vertical).border_subtitle = "Enter shows it"


class SureScreen(ModalScreen[bool]):
    """Asks before something that cannot be unseen or undone; y is yes, anything else is no."""

    DEFAULT_CSS = """
    SureScreen { align: center middle; }
    SureScreen > Static {
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
