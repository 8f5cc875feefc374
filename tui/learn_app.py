"""The course in full screen: the list of lessons, and the lesson that was chosen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from lessons import Course, Lesson, Workspace
from tui.app import MicrotapeApp
from tui.learn_lesson import LessonScreen


class LessonList(OptionList):
    """A list whose key for opening is in the footer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "open", key_display="Enter")]


class CourseScreen(Screen[None]):
    """All lessons, with what has been solved."""

    CSS = """
    CourseScreen #heading { padding: 1 2; }
    CourseScreen OptionList, CourseScreen OptionList:focus {
        height: 1fr; border: none; background: $background; background-tint: $background 0%; padding: 0 1;
        scrollbar-size-vertical: 1; scrollbar-color: $panel; scrollbar-background: $background;
    }
    CourseScreen OptionList > .option-list--option-highlighted { background: $panel; color: $foreground; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "app.quit", "quit", key_display="q"),
    ]

    def __init__(self, course: Course, workspace: Workspace, *, ascii: bool = False) -> None:
        super().__init__()
        self._course = course
        self._workspace = workspace
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """A heading and the list."""
        yield Static(id="heading")
        yield LessonList(id="lessons")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin at the first lesson that is not solved."""
        self._show(self._course.after_solved(self._workspace.progress.solved()))

    def on_screen_resume(self) -> None:
        """Back from a lesson: there may be something new to tick."""
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            self._show(self._course.lessons[options.highlighted])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open a lesson."""
        self.open(self._course.lessons[event.option_index])

    def open(self, lesson: Lesson) -> None:
        """Open a lesson."""
        self.app.push_screen(LessonScreen(self._course, lesson, self._workspace, ascii=self._ascii))

    def _show(self, at: Lesson) -> None:
        solved = self._workspace.progress.solved()
        count = sum(lesson.name in solved for lesson in self._course)
        heading = [
            ("microtape learn", "bold $text-accent"),
            ("   read, step through a program, write your own\n", "$text-muted"),
            (f"{count} of {len(self._course)} lessons solved", "$text-muted"),
        ]
        if self._workspace.progress.trouble:
            heading.append((f"\n{self._workspace.progress.trouble}", "$text-warning"))
        self.query_one("#heading", Static).update(Content.assemble(*heading))
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._line(lesson, lesson.name in solved)) for lesson in self._course])
        options.highlighted = self._course.lessons.index(at)

    def _line(self, lesson: Lesson, solved: bool) -> Content:
        mark = ("ok" if self._ascii else "✓ ") if solved else "  "
        return Content.assemble(
            (f"{mark} ", "bold $text-success"), (f"{lesson.number:>2}  ", "$text-muted"), (lesson.title, "bold"),
            (f"\n       {lesson.summary}", "$text-muted"),
        )  # fmt: skip


class LearnApp(MicrotapeApp):
    """The course. With a lesson, that one is opened at once; leaving it leads to the list."""

    def __init__(
        self,
        course: Course,
        workspace: Workspace,
        *,
        lesson: Lesson | None = None,
        theme: str = "dark",
        ascii: bool = False,
    ) -> None:
        super().__init__(theme)
        self._list = CourseScreen(course, workspace, ascii=ascii)
        self._lesson = lesson
        self._asked_to_quit = False

    async def on_mount(self) -> None:
        """Show the list, and the lesson on top of it."""
        await self.push_screen(self._list)
        if self._lesson is not None:
            self._list.open(self._lesson)

    async def action_quit(self) -> None:
        """Leave, with what is being edited saved."""
        lessons = [screen for screen in self.screen_stack if isinstance(screen, LessonScreen)]
        if all([lesson.save() for lesson in lessons]) or self._asked_to_quit:
            self.exit()
        self._asked_to_quit = True  # whoever asks twice would rather lose the text than stay
