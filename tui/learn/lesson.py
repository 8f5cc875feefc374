"""A lesson's screen: the text beside the program or the exercise; on a small terminal only one of the three."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from lessons import Course, Lesson, LessonError, Workspace
from lessons.checking.record import record_program
from lessons.learner.progress import Record
from lessons.model.lesson import Prediction
from lessons.model.variations import tasks_about
from microtape.errors import RecordingError
from tui.learn.course_text import Page, terminal_text
from tui.learn.exercise import Editor, ExerciseView
from tui.learn.lesson_actions import LessonActionsScreen
from tui.learn.program import LessonStepper, ProgramView
from tui.learn.prose import Prose
from tui.learn.questions import Questions
from tui.learn.review import ReviewScreen
from tui.widgets.footer import Footer
from tui.widgets.help import HelpScreen

SMALLEST = (60, 18)
ROOM_FOR_TWO = {"program": 116, "exercise": 144}  # columns: enough to cut neither pictures nor lines of code
VIEWS = ("text", "program", "exercise")
FIRST_FOCUS = {"text": "#text", "program": "#lesson-tape", "exercise": "#file"}

KEYS = (
    ("1 2 3", "show the text, the program or the exercise; Tab shows the next one"),
    ("→ ←", "step forward or back through the program"),
    ("Home End", "in the program: go to the beginning or the end of backward"),
    ("s", "open the program in the full stepper; q returns"),
    ("c", "check your file; one that is solved then also runs in PyTorch, where it is installed"),
    ("h", "show a hint; again: the next hint"),
    ("e", "edit your file here; Esc saves and stops, Ctrl+S saves and checks"),
    ("o", "open your file in your own editor ($EDITOR)"),
    ("d", "after a failed check: open the stepper at the step where your file goes wrong"),
    ("v", "show the solution piece by piece, after a confirmation"),
    ("w", "open the lesson's wrong engine, if it has one: find the first wrong step"),
    ("t", "practise: a small task on the idea of the lesson; what you miss comes back in the review"),
    ("r", "start the exercise over, after a confirmation; your file is kept"),
    ("n b", "go to the next or the previous lesson"),
    ("↑ ↓", "scroll the focused view; PgUp and PgDn by pages"),
    ("Esc", "back to the list of lessons"),
    ("q", "quit"),
)


class LessonScreen(LessonActionsScreen):
    """One lesson of a course."""

    AUTO_FOCUS = ""  # `on_mount` chooses the view
    CSS_PATH = "learn.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (ROOM_FOR_TWO["program"], "-wide")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(i), f"view('{name}')", name, show=False) for i, name in enumerate(VIEWS, 1)),
        Binding("tab", "turn_view(1)", "view", key_display="Tab"),
        Binding("shift+tab", "turn_view(-1)", show=False),
        Binding("right,l", "move(1)", "step", key_display="→"),
        Binding("left", "move(-1)", "back", show=False),
        Binding("s", "step", "stepper", show=False),
        Binding("c", "check", "check"),
        Binding("h", "hint", "hint"),
        Binding("e", "edit", "edit"),
        Binding("o", "own_editor", "own editor", show=False),
        Binding("d", "where", "where it goes wrong", show=False),
        Binding("v", "solution", "solution", show=False),
        Binding("w", "wrong_engine", "wrong engine", show=False),
        Binding("r", "reset", "reset", show=False),
        Binding("t", "practise", "task", show=False),
        Binding("n", "turn(1)", "next"),
        Binding("b", "turn(-1)", "before", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("escape", "leave", "lessons", key_display="Esc"),
        Binding("q", "quit", "quit", show=False),
    ]

    def __init__(
        self, course: Course, lesson: Lesson, workspace: Workspace, *, ascii: bool = False, solutions: bool = True
    ) -> None:
        super().__init__(course, lesson, workspace, ascii=ascii, solutions=solutions)
        self._questions = Questions(lesson.predictions, missed=self._note_missed, ascii=ascii)
        self._view = "text"
        self._beside = "program"  # the view beside the text if there is room for two
        self._is_read = False  # whether the learner has opened the text, which answers what the program asks

    def compose(self) -> ComposeResult:
        """The title, the three views, the keys."""
        yield Static(id="title")
        with Horizontal(id="both"):
            with Page(id="text"):
                yield Prose(terminal_text(self.lesson.prose, ascii=self._ascii), open_links=False)
            yield ProgramView(self._questions, ascii=self._ascii)
            yield ExerciseView(self.lesson, self._workspace)
        yield Footer()
        yield Static(id="lesson-too-small")

    def on_mount(self) -> None:
        """Show the program of a new lesson, else the text, beside the program if there is room."""
        is_new = self._workspace.progress.of(self.lesson.name) == Record()
        self.action_view("program" if is_new else "text")
        self._record(self._program)

    def on_resize(self, event: Resize) -> None:
        """In a terminal that is too small, show only a message."""
        too_small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        self.set_class(too_small, "-too-small")
        self.query_one("#lesson-too-small", Static).update(
            f"This terminal has {event.size.width}×{event.size.height} characters.\n"
            f"A lesson needs {SMALLEST[0]}×{SMALLEST[1]}.\n\nMake the terminal larger; nothing is lost. q quits."
        )
        self._arrange()
        if self._exercise.is_editing and not too_small:
            self.call_after_refresh(self._exercise.query_one(Editor).focus)  # Textual has no focus on what is hidden

    def on_screen_resume(self) -> None:
        """Read the file again: it may have changed."""
        if self.is_mounted:
            self._exercise.read()

    @property
    def _program(self) -> ProgramView:
        return self.query_one(ProgramView)

    # Which view

    def action_view(self, name: str) -> None:
        """Show a view and focus it."""
        self._exercise.done_editing()
        if self._exercise.is_editing:
            return  # the text could not be saved
        self._view = name
        self._arrange()
        self.query_one(FIRST_FOCUS[name], Widget).focus()
        if name == "exercise":
            self.prepare_check()

    def _arrange(self) -> None:
        # Sets `display`: changing a class of the screen would make Textual style every line of the text again.
        if self._view == "text":
            self._is_read = True
        else:
            self._beside = self._view
        width, beside = self.app.size.width, self._beside
        if self._view == "text" and width < ROOM_FOR_TWO[beside]:
            beside = "program"
        has_room = width >= ROOM_FOR_TWO[beside] and (self._is_read or beside == "exercise")
        two = ("text", beside) if has_room else ()
        for name in VIEWS:
            self.query_one(f"#{name}").display = name == self._view or name in two
        self._show_title()

    def action_turn_view(self, by: int) -> None:
        """Show the next view; the first one comes after the last."""
        self.action_view(VIEWS[(VIEWS.index(self._view) + by) % len(VIEWS)])

    def on_descendant_focus(self) -> None:
        """A click into a view chooses it."""
        for name in VIEWS:
            if self.focused is not None and self.query_one(f"#{name}") in self.focused.ancestors_with_self:
                self._view = name
        self._show_title()

    def _show_title(self) -> None:
        record = self._workspace.progress.of(self.lesson.name)
        reached = [word for word, when in (("solved", record.solved), ("fault found", record.fault_found)) if when]
        marks = Content("".join(f"  {word}" if self._ascii else f"  ✓ {word}" for word in reached))
        where = (f"lesson {self.lesson.number}  ", "$text-muted")
        left = Content.assemble(where, (terminal_text(self.lesson.title, ascii=self._ascii), "bold"))
        tabs = Content(" ").join(
            Content.styled(f" {i} {name} ", "bold on $accent-muted" if name == self._view else "$text-muted")
            for i, name in enumerate(VIEWS, 1)
        )
        room = max(self.app.size.width - tabs.cell_length - 3, 0)
        left = left.truncate(max(room - marks.cell_length, 0), ellipsis=True)  # a long title leaves room for the marks
        line = Content.assemble((left + marks.stylize("bold $text-success")).truncate(room, pad=True), " ", tabs)
        for bar in self.query("#title").results(Static):  # none while the screen is removed and the focus still moves
            bar.update(line, layout=False)

    # The program

    @work(thread=True, group="record")
    def _record(self, program: ProgramView) -> None:
        """Record the lesson's program while the learner reads.

        A closed screen drops its pending callbacks, so nothing happens if the learner has left by then. (The app would
        run them and find no widgets.)
        """
        worker = get_current_worker()
        try:
            recording = record_program(self.lesson.program, self.lesson.passes)
        except (LessonError, RecordingError) as error:
            if not worker.is_cancelled:
                self.call_later(program.say, str(error))
            return
        if not worker.is_cancelled:
            self.call_later(program.show_recording, recording)

    def action_move(self, moments: int) -> None:
        """Step forward or back; on a small terminal, show the program first."""
        if self._view == "exercise":
            return
        if not self._program.display:
            self.action_view("program")
        self._program.move(moments)

    def action_step(self) -> None:
        """Open the full stepper at the current moment."""
        cursor = self._program.cursor
        if cursor is None:
            return
        stepper = LessonStepper(cursor, self._questions, ascii=self._ascii)

        def come_back(_: None) -> None:
            self._program.cursor = stepper.cursor

        self.app.push_screen(stepper, come_back)

    def _note_missed(self, question: Prediction) -> None:
        tasks = tasks_about(self.lesson, question)
        self._remember(partial(self._workspace.progress.missed, self.lesson.name, tasks))

    def action_practise(self) -> None:
        """Open a small task on the lesson's idea."""
        if self.save():
            self.app.push_screen(ReviewScreen(self._course, self._workspace, lesson=self.lesson, ascii=self._ascii))

    # Leaving

    def action_turn(self, by: int) -> None:
        """Go to the next or previous lesson."""
        index = self._course.lessons.index(self.lesson) + by
        if not 0 <= index < len(self._course):
            self.app.notify("This is the last lesson." if by > 0 else "This is the first lesson.")
            return
        if not self.save():
            return
        lesson = self._course.lessons[index]
        other = LessonScreen(
            self._course, lesson, self._workspace, ascii=self._ascii, solutions=self._solutions
        )  # fmt: skip
        self.app.switch_screen(other)

    def action_leave(self) -> None:
        """Go back to the list of lessons."""
        if self.save():
            self.dismiss()

    async def action_quit(self) -> None:
        """Quit."""
        await self.app.action_quit()

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(LessonHelp())


class LessonHelp(HelpScreen):
    """The keys of a lesson."""

    def compose(self) -> ComposeResult:
        """A table of keys."""
        with VerticalScroll() as page:
            page.border_title = "help"
            page.border_subtitle = "Esc closes"
            yield Static(self._table("keys", KEYS))
