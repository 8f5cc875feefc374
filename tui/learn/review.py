"""The review: a small program and a question about it, one after the other. What is missed comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from lessons import Course, Lesson, LessonError, Workspace
from lessons.checking.record import record_task
from lessons.learner.review_queue import TaskName, due_tasks, next_due, task_to_practise
from lessons.learner.reviews import now
from lessons.model.lesson import Prediction
from lessons.model.variations import Task
from microtape.recording.model.model import Recording
from tui.guarded.screen import GuardedScreen
from tui.learn.program import ProgramView
from tui.learn.questions import Questions
from tui.time.cursor import StepCursor
from tui.widgets.footer import Footer
from viz.basics.characters import to_ascii

HINT = "→ and ← step through the program; n brings the next task."
NONE_YET = "Questions that you miss, in a lesson or here, come back for review."
PRACTISE = "t, in a lesson, brings a small task on its idea."


def nothing_to_review(course: Course, workspace: Workspace) -> str:
    """That nothing is due, and when something will be."""
    moment = next_due(course, workspace.progress)
    if moment is None:
        return NONE_YET
    days = (moment.date() - now().date()).days
    when = "later today" if days <= 0 else "tomorrow" if days == 1 else f"in {days} days"
    return f"Nothing to review now. The next task comes back {when}."


class ReviewScreen(GuardedScreen[None]):
    """One task: of those that are due, or of the lesson that is practised."""

    AUTO_FOCUS = ""
    CSS_PATH = "learn.tcss"
    CSS = """
    ReviewScreen #nothing { padding: 1 2; height: 1fr; }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (36, "-high")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "move(1)", "step", key_display="→"),
        Binding("left", "move(-1)", show=False),
        Binding("n", "next", "next task"),
        Binding("escape", "leave", "back", key_display="Esc"),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(
        self,
        course: Course,
        workspace: Workspace,
        *,
        lesson: Lesson | None = None,
        after: TaskName | None = None,
        ascii: bool = False,
    ) -> None:
        super().__init__(classes="-course")
        self._course, self._workspace, self._lesson, self._ascii = course, workspace, lesson, ascii
        self._after = after  # the task before this one, which is not asked again while there are others
        self._chosen: TaskName | None = None
        self._asked: Task | None = None
        self._trouble = ""
        try:
            self._chosen = self._choose()
            self._asked = self._chosen.make(workspace.progress) if self._chosen is not None else None
        except (LessonError, LookupError) as error:
            self._trouble = str(error)

    def _choose(self) -> TaskName | None:
        if self._lesson is not None:
            after = self._after.name if self._after is not None else ""
            return task_to_practise(self._lesson, self._workspace.progress, after)
        due = due_tasks(self._course, self._workspace.progress)
        others = [task for task in due if self._after is None or task.key != self._after.key]
        return next(iter([*others, *due]), None)

    def compose(self) -> ComposeResult:
        """The title, the program, the keys."""
        yield Static(id="title")
        if self._asked is None:
            said = self._trouble or f"{nothing_to_review(self._course, self._workspace)}\n\n{PRACTISE}"
            yield Static(said, id="nothing", markup=False)
        else:
            questions = TaskQuestions(self._asked.prediction, self._answered, ascii=self._ascii)
            with Horizontal(id="both"):
                yield ProgramView(questions, ascii=self._ascii, hints=(HINT, HINT))
        yield Footer()

    def on_mount(self) -> None:
        """Say which task this is, and record its program."""
        self._show_title()
        if self._asked is not None:
            self._record(self._asked)

    def _show_title(self) -> None:
        parts = [("practice  " if self._lesson is not None else "review  ", "bold $text-accent")]
        if self._asked is not None:
            lesson = self._asked.lesson
            parts += [(f"lesson {lesson.number}  ", "$text-muted"), (lesson.title, "bold")]
        if self._lesson is None and (left := len(due_tasks(self._course, self._workspace.progress))):
            parts.append((f"   {left} to review", "$text-muted"))
        title = Content.assemble(*((to_ascii(text) if self._ascii else text, style) for text, style in parts))
        self.query_one("#title", Static).update(title)

    @work(thread=True, group="record")
    def _record(self, task: Task) -> None:
        worker = get_current_worker()
        try:
            recording = record_task(task)
        except LessonError as error:
            if not worker.is_cancelled:
                self.call_later(self.query_one(ProgramView).say, str(error))
            return
        if not worker.is_cancelled:
            self.call_later(self._ask, task.prediction, recording)

    def _ask(self, prediction: Prediction, recording: Recording) -> None:
        """Show the program at the moment that the question is about, and ask it."""
        program = self.query_one(ProgramView)
        program.show_recording(recording)
        program.cursor = StepCursor.after(recording, prediction.after, prediction.pass_number - 1)
        self.add_class("-asking")
        program.query_one("#lesson-tape").focus()
        program.move(1)

    def _answered(self, right: bool | None) -> None:
        """Keep the answer, and show the whole program."""
        self.remove_class("-asking")
        if right is None or self._asked is None:
            return
        try:
            self._workspace.progress.reviewed(self._asked.lesson.name, self._asked.name, right=right)
        except OSError as error:
            self.app.notify(str(error), severity="error", timeout=15, markup=False)
        self._show_title()

    def action_move(self, moments: int) -> None:
        """Step forward or back."""
        for program in self.query(ProgramView):
            program.move(moments)

    def action_next(self) -> None:
        """Go to the next task."""
        following = ReviewScreen(
            self._course, self._workspace, lesson=self._lesson, after=self._chosen, ascii=self._ascii
        )  # fmt: skip
        self.app.switch_screen(following)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss()


class TaskQuestions(Questions):
    """The one question of a task."""

    def __init__(self, prediction: Prediction, answered: Callable[[bool | None], None], *, ascii: bool = False) -> None:
        super().__init__((prediction,), ascii=ascii)
        self._answered = answered

    def answered(self, right: bool | None) -> None:
        """Pass the answer on."""
        self._answered(right)
