"""The page with the lines that the program has printed since the stepper opened."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.shell.printed_lines import PrintedLines
from tui.shell.spans import shown
from tui.widgets.dialog import Dialog, keys_below

LOOK = 0.25  # seconds between two looks for new lines


class OutputScreen(Dialog[None]):
    """Shows the last lines, and follows the program while it prints more."""

    DEFAULT_CSS = """
    OutputScreen { align: center middle; }
    OutputScreen > VerticalScroll {
        width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    OutputScreen Static { height: auto; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,O,enter", "dismiss", "close")]

    def __init__(self, title: str, printed: PrintedLines, *, ascii: bool = False) -> None:
        super().__init__()
        self._title, self._printed, self._ascii = title, printed, ascii
        self._lines: list[str] | None = None

    def compose(self) -> ComposeResult:
        """The lines."""
        with VerticalScroll() as page:
            page.border_subtitle = keys_below(("escape", "Esc closes"))
            yield Static()

    def on_mount(self) -> None:
        """Show the lines so far, and look for more."""
        self._look()
        self.set_interval(LOOK, self._look)

    def _look(self) -> None:
        lines = self._printed.last
        if lines == self._lines:
            return
        page = self.query_one(VerticalScroll)
        at_end = self._lines is None or page.is_vertical_scroll_end
        self._lines = lines
        count = max(self._printed.count, len(lines))
        some = f", the last {len(lines):,} of {count:,} lines" if count > len(lines) else f", {count:,} lines"
        title = shown(self._title + (some if count != 1 else ", 1 line"), ascii=self._ascii)
        page.border_title = Content(title)
        self.query_one(Static).update(Content("\n".join(shown(one, ascii=self._ascii) for one in lines)))
        if at_end:
            self.call_after_refresh(page.scroll_end, animate=False)
