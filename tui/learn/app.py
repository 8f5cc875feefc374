"""The course in full screen: the list of lessons, and the chosen lesson."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from lessons import Course, Lesson, Workspace
from lessons.learner.review_queue import due_tasks
from tui.guarded.screen import GuardedScreen
from tui.learn.lesson import LessonScreen
from tui.learn.review import ReviewScreen
from tui.stepper.app import MicrotapeApp
from tui.widgets.choices import Choices
from tui.widgets.footer import Footer
from viz.basics.characters import to_ascii


class LessonList(Choices):
    """A list that shows its opening key in the footer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "open", key_display="Enter")]


class SearchInput(Input):
    """The search field; up and down move in the list below."""

    def on_key(self, event: Key) -> None:
        """Pass up and down to the list."""
        if event.key in ("up", "down"):
            event.prevent_default()
            options = self.screen.query_one(OptionList)
            options.action_cursor_down() if event.key == "down" else options.action_cursor_up()


class CourseScreen(GuardedScreen[None]):
    """The list of lessons, with marks for those that are solved."""

    AUTO_FOCUS = "#lessons"
    CSS = """
    CourseScreen #heading { padding: 1 2; }
    CourseScreen OptionList, CourseScreen OptionList:focus {
        height: 1fr; border: none; background: $background; background-tint: $background 0%; padding: 0 1;
        scrollbar-size-vertical: 1; scrollbar-color: $panel; scrollbar-background: $background;
    }
    CourseScreen Input, CourseScreen Input:focus {
        border: none; height: 1; margin: 0 2 1 2; padding: 0 1; background: $panel;
    }
    CourseScreen OptionList > .option-list--option-highlighted { background: $panel; color: $foreground; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", key_display="/", priority=True),  # runs before the next key arrives
        Binding("r", "review", "review"),
        Binding("escape", "escape", show=False),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, course: Course, workspace: Workspace, *, ascii: bool = False, solutions: bool = True) -> None:
        super().__init__()
        self._course = course
        self._workspace = workspace
        self._ascii = ascii
        self._solutions = solutions

    def compose(self) -> ComposeResult:
        """A heading and the list."""
        yield Static(id="heading")
        search = SearchInput(placeholder="words of a title, a summary or new terms")
        search.display = False
        yield search
        yield LessonList(id="lessons")
        yield Footer()

    def on_mount(self) -> None:
        """Highlight the first lesson that is not solved."""
        self._show(self._course.after_solved(self._workspace.progress.solved()))

    def on_screen_resume(self) -> None:
        """Refresh the list after a lesson, which may be solved now."""
        options = self.query_one(OptionList)
        option = options.highlighted_option
        if option is not None and option.id is not None:
            self._show(self._course.named(option.id))

    def action_search(self) -> None:
        """Open the search field."""
        search = self.query_one(Input)
        search.display = True
        self.set_focus(search)  # takes effect at once, so that the next key goes to the field

    def action_escape(self) -> None:
        """End the search; without one, quit."""
        if self.query_one(Input).display:
            self._end_search()
        else:
            self.app.call_later(self.app.action_quit)

    def action_review(self) -> None:
        """Open the review of what was missed."""
        self.app.push_screen(ReviewScreen(self._course, self._workspace, ascii=self._ascii))

    def _end_search(self) -> None:
        """Show all lessons again, and keep the highlighted one."""
        search, option = self.query_one(Input), self.query_one(OptionList).highlighted_option
        with self.prevent(Input.Changed):
            search.value = ""
        search.display = False
        self.query_one(OptionList).focus()
        self._show(self._course.named(option.id) if option is not None and option.id else self._course.lessons[0])

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show only the lessons that match all the words."""
        found = self._found()
        self._show(found[0] if found else None)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open the highlighted lesson, and end the search: the whole list is shown after the lesson."""
        option = self.query_one(OptionList).highlighted_option
        if option is not None and option.id is not None:
            self._end_search()
            await self.open(self._course.named(option.id))

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open a lesson."""
        await self.open(self._course.named(event.option_id or ""))

    def _found(self) -> list[Lesson]:
        """The lessons with every word of the search in their title, summary, name or new terms."""
        words = self.query_one(Input).value.casefold().split()

        def about(lesson: Lesson) -> str:
            parts = (str(lesson.number), lesson.name, lesson.title, lesson.summary, *lesson.introduces)
            return " ".join(parts).casefold()

        return [lesson for lesson in self._course if all(word in about(lesson) for word in words)]

    async def open(self, lesson: Lesson) -> LessonScreen:
        """Open a lesson."""
        screen = LessonScreen(
            self._course, lesson, self._workspace, ascii=self._ascii, solutions=self._solutions
        )  # fmt: skip
        await self.app.push_screen(screen)
        return screen

    def _show(self, at: Lesson | None) -> None:
        solved, found = self._workspace.progress.solved(), self._found()
        count = sum(lesson.name in solved for lesson in self._course)
        heading = [
            ("microtape learn", "bold $text-accent"),
            ("   read, step through a program, write your own\n", "$text-muted"),
            (bar(count, len(self._course), ascii=self._ascii), "$text-success"),
            (f"  {count} of {len(self._course)} lessons solved", "$text-muted"),
        ]
        if len(found) < len(self._course):
            heading.append((f", {len(found)} found", "$text-muted"))
        elif due := len(due_tasks(self._course, self._workspace.progress)):
            heading.append((f", {due} {'task' if due == 1 else 'tasks'} to review", "$text-warning"))
        if self._workspace.progress.trouble:
            heading.append((f"\n{self._workspace.progress.trouble}", "$text-warning"))
        self.query_one("#heading", Static).update(Content.assemble(*heading))
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._line(lesson), id=lesson.name) for lesson in found])
        options.highlighted = found.index(at) if at in found else None

    def _line(self, lesson: Lesson) -> Content:
        record = self._workspace.progress.of(lesson.name)
        tick = "ok" if self._ascii else "✓ "
        title, summary = (to_ascii(text) if self._ascii else text for text in (lesson.title, lesson.summary))
        mark = tick if record.solved else ".." if record.attempts else "  "
        fault = f"  {tick.strip()} fault found" if record.fault_found else ""
        return Content.assemble(
            (f"{mark} ", "bold $text-success"), (f"{lesson.number:>2}  ", "$text-muted"), (title, "bold"),
            (fault, "$text-success"), (f"\n       {summary}", "$text-muted"),
        )  # fmt: skip


def bar(count: int, total: int, *, ascii: bool) -> str:
    """A progress bar of the course."""
    done, left = ("#", ".") if ascii else ("█", "░")
    return done * count + left * (total - count)


class LearnApp(MicrotapeApp):
    """The course. Opens `lesson` over the list if it is given, and runs the action `then` of what is shown."""

    def __init__(
        self,
        course: Course,
        workspace: Workspace,
        *,
        lesson: Lesson | None = None,
        then: Literal["", "where", "wrong_engine", "practise", "review"] = "",
        solutions: bool = True,
        theme: str = "dark",
        ascii: bool = False,
    ) -> None:
        super().__init__(theme, ascii=ascii)
        self._list = CourseScreen(course, workspace, ascii=ascii, solutions=solutions)
        self._lesson = lesson
        self._then = then
        self._asked_to_quit = False

    async def on_mount(self) -> None:
        """Show the list, and the lesson over it."""
        await self.push_screen(self._list)
        if self._lesson is not None:
            await self._list.open(self._lesson)
        if self._then:
            await self.screen.run_action(self._then)

    async def action_quit(self) -> None:
        """Save the edited file and quit."""
        if self.keep() or self._asked_to_quit:
            self.exit()
        self._asked_to_quit = True  # a second request quits even if the text cannot be saved

    def keep(self) -> bool:
        """Save the edited file. Returns whether it is saved."""
        return all([screen.save() for screen in self.screen_stack if isinstance(screen, LessonScreen)])
