"""A lesson on the screen: its text beside its exercise. Its program is stepped through and its exercise checked."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.highlight import highlight
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Footer, Markdown, Static

from lessons import Course, Lesson, LessonError, Workspace, check
from lessons.report import Role, report
from microtape.recording.file import load
from microtape.recording.model import Recording
from tui.app import MicrotapeApp
from tui.launch import run_command
from tui.predict import LessonStepper

STYLES: dict[Role, str] = {
    "good": "$text-success",
    "bad": "bold $text-error",
    "strong": "bold",
    "dim": "$text-muted",
    "": "",
}


class LessonScreen(Screen[None]):
    """One lesson of a course at a time."""

    DEFAULT_CSS = """
    LessonScreen #title { height: 1; padding: 0 1; background: $surface; }
    LessonScreen #both { height: 1fr; }
    LessonScreen #prose { width: 6fr; min-width: 72; }
    LessonScreen #work { width: 5fr; }
    LessonScreen #prose, LessonScreen .box { border: round $panel; border-title-color: $text-muted; padding: 0 1; }
    LessonScreen #prose:focus, LessonScreen .box:focus { border: round $accent; border-title-color: $text-accent; }
    LessonScreen .box { border-subtitle-color: $text-muted; }
    LessonScreen #file { height: 3fr; }
    LessonScreen #verdict { height: 2fr; }
    LessonScreen VerticalScroll {
        scrollbar-size-vertical: 1; scrollbar-color: $panel; scrollbar-background: $background;
    }
    LessonScreen.-narrow #work { display: none; }
    LessonScreen.-narrow.-working #work { display: block; }
    LessonScreen.-narrow.-working #prose { display: none; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (116, "-wide")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "step", "step through it"),
        Binding("e", "edit", "edit"),
        Binding("c", "check", "check"),
        Binding("h", "hint", "hint"),
        Binding("tab", "other_side", "text/exercise", key_display="Tab"),
        Binding("n", "turn(1)", "next", show=False),
        Binding("b", "turn(-1)", "back", show=False),
        Binding("q", "app.quit", "quit"),
    ]

    lesson: reactive[Lesson | None] = reactive(None)

    def __init__(self, course: Course, lesson: Lesson, workspace: Workspace, *, ascii: bool = False) -> None:
        super().__init__()
        self._course = course
        self._first = lesson
        self._workspace = workspace
        self._ascii = ascii
        self._hints = 0

    def compose(self) -> ComposeResult:
        """Text on the left, exercise and verdict on the right."""
        yield Static(id="title")
        with Horizontal(id="both"):
            with VerticalScroll(id="prose"):
                yield Markdown(open_links=False)
            with Vertical(id="work"):
                with VerticalScroll(id="file", classes="box"):
                    yield Static(id="code")
                with VerticalScroll(id="verdict", classes="box") as verdict:
                    verdict.border_title = "check"
                    yield Static(id="said")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Open the lesson."""
        self.lesson = self._first
        self.query_one("#prose").focus()

    def on_screen_resume(self) -> None:
        """Back from an editor or the stepper: the file may have changed."""
        if self.lesson is not None:
            self._show_file(self.lesson)

    async def watch_lesson(self, lesson: Lesson | None) -> None:
        """Show another lesson."""
        if lesson is None:
            return
        self._hints = 0
        self._show_title(lesson)
        self._show_file(lesson)
        self._write(("Press c to check your file, h for a hint, e to edit it.", "dim"))
        await self.query_one(Markdown).update(lesson.prose)
        self.query_one("#prose").scroll_home(animate=False)

    # What the keys do

    @work(thread=True, exclusive=True)
    def action_step(self) -> None:
        """Record the lesson's program and open the stepper on it."""
        lesson = self.lesson
        if lesson is None:
            return
        self.app.call_from_thread(self._write, ("Recording the program ...", "dim"))
        try:
            recording = _record(lesson)
        except (LessonError, ValueError) as error:
            self.app.call_from_thread(self._say, (str(error), "bad"))
            return
        self.app.call_from_thread(self._write)
        stepper = LessonStepper(recording, lesson.predictions, ascii=self._ascii)
        self.app.call_from_thread(self.app.push_screen, stepper)

    def action_edit(self) -> None:
        """Open the learner's file in $EDITOR."""
        if self.lesson is None:
            return
        path = self._workspace.exercise(self.lesson)
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or _some_editor())
        if not editor:
            self._say((f"Set $EDITOR to your editor, or open the file in it: {path}", "strong"))
            return
        with self.app.suspend():
            subprocess.run([*editor, str(path)], check=False)
        self._show_file(self.lesson)
        self.refresh()

    @work(thread=True, exclusive=True)
    def action_check(self) -> None:
        """Try the learner's file, in a process of its own."""
        lesson = self.lesson
        if lesson is None:
            return
        self.app.call_from_thread(self._say, ("Checking ...", "dim"))
        try:
            verdict = check(lesson.exercise, self._workspace.exercise(lesson))
            self._workspace.progress.attempted(lesson.name, passed=verdict.passed)
        except (LessonError, OSError) as error:
            self.app.call_from_thread(self._say, (str(error), "bad"))
            return
        self.app.call_from_thread(self._say, *((said.text, said.role) for said in report(verdict, ascii=self._ascii)))
        self.app.call_from_thread(self._show_title, lesson)
        self.app.call_from_thread(self._show_file, lesson)

    def action_hint(self) -> None:
        """One more hint of the ladder."""
        if self.lesson is None:
            return
        hints = self.lesson.exercise.hints
        self._hints = min(self._hints + 1, len(hints))
        self._workspace.progress.hinted(self.lesson.name, self._hints)
        shown: list[tuple[str, Role]] = [(text, "") for hint in hints[: self._hints] for text in (_flowing(hint), "")]
        more = len(hints) - self._hints
        self._say(*shown, (f"h shows the next hint ({more} more)." if more else "That was the last hint.", "dim"))

    def action_other_side(self) -> None:
        """Between the text and the exercise; on a narrow terminal one shows at a time."""
        working = self.focused is None or self.focused.id == "prose"
        self.set_class(working, "-working")
        self.query_one("#file" if working else "#prose").focus()

    def action_turn(self, by: int) -> None:
        """To the lesson before or after."""
        if self.lesson is not None:
            index = self._course.lessons.index(self.lesson) + by
            self.lesson = self._course.lessons[min(max(index, 0), len(self._course) - 1)]

    # Showing

    def _show_title(self, lesson: Lesson) -> None:
        solved = lesson.name in self._workspace.progress.solved()
        mark = ("  solved" if self._ascii else "  ✓ solved", "bold $text-success") if solved else ("", "")
        where = (f"lesson {lesson.number} of {len(self._course)}  ", "$text-muted")
        self.query_one("#title", Static).update(Content.assemble(where, (lesson.title, "bold"), mark))

    def _show_file(self, lesson: Lesson) -> None:
        path = self._workspace.exercise(lesson)
        box = self.query_one("#file")
        box.border_title, box.border_subtitle = "your exercise", str(path)
        self.query_one("#code", Static).update(highlight(path.read_text("utf-8", errors="replace"), language="python"))

    def _say(self, *lines: tuple[str, Role]) -> None:
        """Write it where it is seen: on a narrow terminal that means turning to the exercise."""
        self._write(*lines)
        self.set_class(True, "-working")
        self.query_one("#file").focus()

    def _write(self, *lines: tuple[str, Role]) -> None:
        text = Content("\n").join(Content.styled(text, STYLES[role]) for text, role in lines)
        self.query_one("#said", Static).update(text)


class LessonApp(MicrotapeApp):
    """The course."""

    def __init__(
        self, course: Course, lesson: Lesson, workspace: Workspace, *, theme: str = "dark", ascii: bool = False
    ) -> None:
        super().__init__(theme)
        self._screen = LessonScreen(course, lesson, workspace, ascii=ascii)

    def on_mount(self) -> None:
        """Show the lesson."""
        self.push_screen(self._screen)


def _record(lesson: Lesson) -> Recording:
    """The lesson's program, recorded with its output kept off the screen."""
    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        out = Path(folder) / "run.tape"
        passes = ["--pass", lesson.passes] if lesson.passes else []
        ended = run_command("record", str(lesson.program), "-o", str(out), *passes, capture=True)
        if not out.exists():
            why = ended.stderr.strip().rpartition("\n")[2]
            raise LessonError(f"{lesson.program} cannot be recorded: {why}")
        return load(out)


def _flowing(markdown: str) -> str:
    """Text whose lines are joined to paragraphs, since the pane has a width of its own; code stays as it is."""
    paragraphs = markdown.split("\n\n")
    return "\n\n".join(text if text.startswith(("    ", "```")) else text.replace("\n", " ") for text in paragraphs)


def _some_editor() -> str:
    return next((name for name in ("nano", "vim", "vi") if shutil.which(name)), "")
