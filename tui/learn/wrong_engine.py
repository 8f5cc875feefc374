"""The stepper on a wrong engine: the learner finds the first wrong step and marks it with a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.widgets import Static

from lessons.checking.compare_recordings import reply_to_claim
from lessons.checking.record import record_program
from lessons.model.fault_names import FAULTS
from lessons.model.lesson import Lesson, WrongEngine
from microtape.recording.model.model import Recording
from tui.learn.course_text import terminal_text
from tui.shell.backticks import colour_names
from tui.stepper.stepper import StepperScreen
from tui.widgets.dialog import Dialog

TASK = "This engine has a fault. Go to the first wrong step and press m."


class EngineComparison(NamedTuple):
    """A wrong engine, and two recordings of one program: on the wrong engine and on the real one."""

    wrong: WrongEngine
    faulty: Recording
    real: Recording

    def judge(self, pass_index: int, step: int) -> tuple[bool, str]:
        """Whether a step (from 0) is the first wrong one, and the explanation."""
        right, text = reply_to_claim(self.faulty, self.real, pass_index, step)
        if not right:
            return False, text
        return True, f"{text}\n\n{FAULTS[self.wrong.fault]} {self.wrong.because}"


def record_both_engines(lesson: Lesson) -> EngineComparison | None:
    """Record the lesson's program on its wrong engine and on the real one, in about a second.

    Returns None if the lesson has no wrong engine.

    Raises:
        LessonError: the program cannot be recorded.
    """
    wrong = lesson.wrong_engine
    if wrong is None:
        return None
    faulty = record_program(wrong.program, wrong.passes, fault=wrong.fault)
    return EngineComparison(wrong, faulty, record_program(wrong.program, wrong.passes))


class WrongEngineStepper(StepperScreen):
    """The stepper on the recording of a wrong engine."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("m", "mark", "first wrong step")]

    def __init__(self, case: EngineComparison, found: Callable[[], None], *, ascii: bool = False) -> None:
        super().__init__(case.faulty, ascii=ascii)
        self._case = case
        self._found = found

    def on_mount(self) -> None:
        """Show the task in the banner."""
        super().on_mount()
        if self.is_composed:
            self.say_above(TASK)

    def action_mark(self) -> None:
        """Judge the current step as the learner's answer."""
        cursor = self.cursor
        if cursor is None or cursor.is_forward or not cursor.steps_done:
            self.app.push_screen(ReplyScreen("Backward has not run a step yet. Step forward first."))
            return
        right, text = self._case.judge(cursor.timeline.pass_index, cursor.steps_done - 1)
        if right:
            self._found()
            self.say_above("Found. q goes back to the lesson.")
        self.app.push_screen(ReplyScreen(terminal_text(text, ascii=self.ascii), good=right))


class ReplyScreen(Dialog[None]):
    """A reply over the stepper, at the bottom of the screen; any key closes it."""

    DEFAULT_CSS = """
    ReplyScreen { align: center bottom; background: $background 0%; }
    ReplyScreen > Static {
        width: 78; max-width: 100%; height: auto; border: round $warning; background: $surface; padding: 0 1;
        border-title-style: bold; border-subtitle-color: $text-muted;
    }
    ReplyScreen > Static.-good { border: round $success; }
    """

    def __init__(self, text: str, *, good: bool = False) -> None:
        super().__init__()
        self._text = text
        self._good = good

    def compose(self) -> ComposeResult:
        """The reply."""
        box = Static(colour_names(self._text), classes="-good" if self._good else "")
        box.border_title = "found" if self._good else "not this one"
        box.border_subtitle = "any key closes this"
        yield box

    def on_key(self, event: Key) -> None:
        """Close on any key, which has no other effect."""
        event.stop()
        event.prevent_default()
        self.dismiss()
