"""The page with the course of every parameter over the passes that `--every` recorded."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from microtape.recording.model.model import Recording
from tui.stepper.passes_screen import LazyLine
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content
from tui.words.courses import Course, columns, courses, heading, row, titles

WIDEST = 160


class CoursesScreen(Dialog[str | None]):
    """Closes with the name of the parameter to go to, or None."""

    FITTED = True

    DEFAULT_CSS = f"""
    CoursesScreen {{ align: center middle; }}
    CoursesScreen > Vertical {{
        width: {WIDEST}; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }}
    CoursesScreen Static {{ height: auto; }}
    CoursesScreen OptionList, CoursesScreen OptionList:focus {{
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,S", "dismiss", "close", show=False)]

    def __init__(self, recording: Recording, *, ascii: bool = False) -> None:
        super().__init__()
        self._recording = recording
        self._rows = courses(recording)
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """The passes and their losses, the titles of the columns, and a row for each parameter."""
        width = min(self.app.size.width, WIDEST) - 6
        names, room = columns(self._recording, self._rows, width)

        def line(one: Course) -> Content:
            return content(row(one, names, room, width), ascii=self._ascii).truncate(width)

        above = [*heading(self._recording, width), titles(names, room)]
        with Vertical() as box:
            box.border_title = "courses, the worst first"
            box.border_subtitle = keys_below(("enter", "Enter goes to the leaf"), ("escape", "Esc"))
            yield Static(Content("\n").join([content(one, ascii=self._ascii).truncate(width) for one in above]))
            yield Choices(*(Option(LazyLine(partial(line, one))) for one in self._rows))

    def on_mount(self) -> None:
        """Give the list the focus, at the worst parameter."""
        rows = self.query_one(Choices)
        rows.highlighted = 0 if self._rows else None
        rows.focus()

    def chose(self, row: int) -> None:
        """Go to the parameter on Enter or a click."""
        self.dismiss(self._rows[row].name)
