"""A lesson's program beside its text: tape, source and the sentence about a step; and the full stepper on it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.reactive import reactive
from textual.widgets import Static

from microtape.recording.model.model import Recording
from tui.learn.questions import Questions
from tui.stepper.parts.key_declarations import attach
from tui.stepper.parts.movement import Movement
from tui.stepper.stepper import StepperScreen
from tui.time.cursor import StepCursor
from tui.widgets.bars import TimeBar
from tui.widgets.panes import SentencePane
from tui.widgets.source_pane import SourcePane
from tui.widgets.tape import TapeView
from viz.basics.characters import to_ascii

PLAY = "Play first: → steps through the program, and you are asked what comes."
PLAYED = "1 opens the text, which explains what you saw; 3 opens the exercise."


class LessonMovement(Movement):
    """Moves like the stepper, and also from the end of a pass to the next one."""

    def moved(self, moments: int) -> StepCursor:
        """The moment that a step leads to."""
        return onward(self.cursor) if moments > 0 else backward(self.cursor)


class ProgramView(Vertical):
    """A small stepper. It asks a lesson's questions, and continues from one pass to the next."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "home", "start", show=False),
        Binding("end", "end", "end", show=False),
    ]

    cursor: reactive[StepCursor | None] = reactive(None)

    def __init__(self, questions: Questions, *, hints: tuple[str, str] = (PLAY, PLAYED), ascii: bool = False) -> None:
        super().__init__(id="program")
        self._hints = hints  # before and after the end of the program has been seen
        self.questions = questions
        self.movement = LessonMovement(self, (questions,))
        self._ascii = ascii
        self._has_played = False  # whether the end of the program has been seen
        attach(self, self.movement)

    def compose(self) -> ComposeResult:
        """The tape, the source and the sentence; before the program is recorded, a notice."""
        cursor, ascii = ProgramView.cursor, self._ascii
        yield Static("Recording the program ...", id="recording", markup=False)
        yield TimeBar(ascii=ascii).data_bind(cursor)
        yield TapeView("lesson-tape", ascii=ascii).data_bind(cursor)
        yield SourcePane("lesson-source", ascii=ascii).data_bind(cursor)
        yield SentencePane("lesson-sentence", ascii=ascii).data_bind(cursor)

    def show_recording(self, recording: Recording) -> None:
        """Show a recording, at the call of backward."""
        self.cursor = StepCursor.open(recording)
        self.query_one(TapeView).styles.max_height = len(self.cursor.timeline.rows) + 3
        self.add_class("-recorded")

    def watch_cursor(self, cursor: StepCursor | None) -> None:
        """Say what to do here: play, and at the end of the program read."""
        if cursor is not None:
            is_over = cursor.next_node is None and cursor.timeline.pass_index == len(cursor.recording.passes) - 1
            self._has_played = self._has_played or is_over
            said = self._hints[self._has_played]
            self.query_one(TapeView).border_subtitle = to_ascii(said) if self._ascii else said

    def say(self, text: str) -> None:
        """Show a text instead of a recording."""
        self.query_one("#recording", Static).update(text)

    def move(self, moments: int) -> None:
        """Step forward or back. Questions about the next step come first."""
        if self.cursor is not None:
            self.movement.move(moments)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Home and End do nothing until there is a recording."""
        return self.cursor is not None or action not in ("home", "end")

    def stop_playing(self) -> None:
        """Do nothing: this stepper does not play."""

    def validate_cursor(self, cursor: StepCursor | None) -> StepCursor | None:
        """Hide the answers to questions that have not been asked yet."""
        return None if cursor is None else self.questions.without_answers(cursor)

    def on_tape_view_chosen(self, message: TapeView.Chosen) -> None:
        """Go to the node of the clicked row."""
        self.movement.go_to_node(message.node)


def onward(cursor: StepCursor) -> StepCursor:
    """One step forward; from the end of a pass, the next pass."""
    return cursor.forward() if cursor.next_node is not None else cursor.to_pass(cursor.timeline.pass_index + 1)


def backward(cursor: StepCursor) -> StepCursor:
    """One step back; from the beginning of a pass, the end of the previous pass."""
    earlier, index = cursor.back(), cursor.timeline.pass_index
    return cursor.to_pass(index - 1).end() if earlier == cursor and index else earlier


class LessonStepper(StepperScreen):
    """The full stepper on a lesson's program, at the moment that the small one shows."""

    def __init__(self, cursor: StepCursor, questions: Questions, *, ascii: bool = False) -> None:
        super().__init__(cursor.recording, ascii=ascii, questions=questions)
        self._opening = cursor
        self._questions = questions

    def validate_cursor(self, cursor: StepCursor | None) -> StepCursor | None:
        """Hide the answers to questions that have not been asked yet."""
        is_predicting = self.prediction.score is not None
        return cursor if cursor is None or is_predicting else self._questions.without_answers(cursor)
