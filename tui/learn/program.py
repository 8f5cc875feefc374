"""A lesson's program beside its text: the tape, the source and what this step did. The full stepper is a key away."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.reactive import reactive
from textual.widgets import Static

from microtape.recording.model.model import Recording
from tui.learn.questions import Questions
from tui.stepper.stepper import StepperScreen
from tui.time.cursor import StepCursor
from tui.widgets.bars import TimeBar
from tui.widgets.panes import SentencePane
from tui.widgets.source_pane import SourcePane
from tui.widgets.tape import TapeView


class ProgramView(Vertical):
    """A small stepper. It asks a lesson's questions, and goes on from one pass to the next."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "home", "start", show=False),
        Binding("end", "end", "end", show=False),
    ]

    cursor: reactive[StepCursor | None] = reactive(None)

    def __init__(self, questions: Questions, *, ascii: bool = False) -> None:
        super().__init__(id="program")
        self.questions = questions
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """The tape, the source, the sentence; until there is a recording, a word about that."""
        cursor, ascii = ProgramView.cursor, self._ascii
        yield Static("Recording the program ...", id="recording")
        yield TimeBar(ascii=ascii).data_bind(cursor)
        yield TapeView("lesson-tape", ascii=ascii).data_bind(cursor)
        yield SourcePane("lesson-source", ascii=ascii).data_bind(cursor)
        yield SentencePane("", "lesson-sentence", ascii=ascii).data_bind(cursor)

    def show_recording(self, recording: Recording) -> None:
        """Begin where backward is called."""
        self.cursor = StepCursor.open(recording)
        self.query_one(TapeView).styles.max_height = len(self.cursor.timeline.rows) + 3
        self.add_class("-recorded")

    def say(self, text: str) -> None:
        """A word in place of a recording."""
        self.query_one("#recording", Static).update(text)

    def move(self, moments: int) -> None:
        """Step on or back; before some steps, questions; after the end of a pass, the next one."""
        cursor = self.cursor
        if cursor is None:
            return
        question = self.questions.before_step(cursor) if moments > 0 else None
        if question is not None:
            self.app.push_screen(question, lambda _: self.move(moments))
        else:
            self.cursor = onward(cursor) if moments > 0 else backward(cursor)

    def validate_cursor(self, cursor: StepCursor | None) -> StepCursor | None:
        """No answer is shown before its question."""
        return None if cursor is None else self.questions.without_answers(cursor)

    def action_home(self) -> None:
        """To where backward was called, then to before the program."""
        if self.cursor is not None:
            self.cursor = self.cursor.home()

    def action_end(self) -> None:
        """To the end of the pass."""
        if self.cursor is not None:
            self.cursor = self.cursor.end()

    def on_tape_view_chosen(self, message: TapeView.Chosen) -> None:
        """A row was clicked."""
        if self.cursor is not None:
            self.cursor = self.cursor.goto_node(message.node)


def onward(cursor: StepCursor) -> StepCursor:
    """A step on; from the end of a pass to the next one."""
    return cursor.forward() if cursor.next_node is not None else cursor.to_pass(cursor.timeline.pass_index + 1)


def backward(cursor: StepCursor) -> StepCursor:
    """A step back; from the beginning of a pass to the end of the one before."""
    earlier, index = cursor.back(), cursor.timeline.pass_index
    return cursor.to_pass(index - 1).end() if earlier == cursor and index else earlier


class LessonStepper(StepperScreen):
    """The full stepper on a lesson's program, at the place where the small one is."""

    def __init__(self, cursor: StepCursor, questions: Questions, *, ascii: bool = False) -> None:
        super().__init__(cursor.recording, ascii=ascii)
        self._opening = cursor
        self._questions = questions

    def validate_cursor(self, cursor: StepCursor | None) -> StepCursor | None:
        """No answer is shown before its question."""
        return cursor if cursor is None or self.score is not None else self._questions.without_answers(cursor)

    def action_move(self, moments: int) -> None:
        """Step on, after an answer where there is a question."""
        question = self._questions.before_step(self.cursor) if self.cursor is not None and moments > 0 else None
        if question is not None:
            self.app.push_screen(question, lambda _: self.action_move(moments))
        else:
            super().action_move(moments)
