"""A pane of text, drawn line by line: a step repaints the rows that changed and lays nothing out again."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar

from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from tui.time.cursor import StepCursor
from tui.widgets.click_targets import moment_at
from tui.widgets.line_view import LineView
from tui.widgets.strip_renderer import StripRenderer
from tui.widgets.styled_text import StyledLine, plain, wrap


class Pane(LineView):
    """Shows `lines(cursor)` of a subclass, wrapped and scrolled. Its share of the height is in a subclass's style."""

    DEFAULT_CSS = "Pane { padding: 0 1; }"

    NAME: ClassVar[str]  # its id, its title and its tab
    EXPLAINED: ClassVar[str]  # what F1 says about it; `{action}` is the key of an action
    HANGING: ClassVar[int] = 0  # by how much the rest of a wrapped line is indented

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)

    @dataclass
    class Chosen(Message):
        """Something that belongs to a moment was clicked."""

        moment: int

    def __init__(self, id: str = "", *, ascii: bool = False) -> None:
        super().__init__(id=id or self.NAME)
        self.ascii = ascii
        self.border_title = self.NAME
        self._wrapped: list[tuple[StyledLine, list[StyledLine]]] = []  # each line with its rows
        self._rows: list[StyledLine] = []
        self._starts: list[int] = []
        self._strips: dict[int, tuple[StyledLine, Strip]] = {}  # what was drawn for a row, and from what
        self._renderer = StripRenderer(self)

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """The pane's text at a moment."""
        raise NotImplementedError

    @property
    def is_empty(self) -> bool:
        """Whether it has nothing to show, and gives its room to the other panes."""
        return False

    def click_message(self, cursor: StepCursor, line: int, row: StyledLine, column: int) -> Message | None:
        """The message for a click on a column of a row, which belongs to the line with that index."""
        moment = moment_at(cursor, row, column)
        return None if moment is None else self.Chosen(moment)

    def on_click(self, event: Click) -> None:
        """Go to the moment of what was clicked, if it has one."""
        row = event.y - self.gutter.top + self.scroll_offset.y
        if self.cursor is None or not self.gutter.top <= event.y or not 0 <= row < len(self._rows):
            return
        line = bisect_right(self._starts, row) - 1
        message = self.click_message(self.cursor, line, self._rows[row], event.x - self.gutter.left)
        if message is not None:
            self.post_message(message)

    def settle(self) -> None:
        """Scroll to what matters in the new text: here, to its top."""
        if self.scroll_offset.y:
            self.scroll_to(y=0, animate=False, force=True)

    def row_of(self, line: int) -> int:
        """The row in which a line of `lines` begins."""
        return self._starts[line] if line < len(self._starts) else 0

    def watch_cursor(self) -> None:
        """Show another moment."""
        self.show()

    def on_resize(self, event: Resize) -> None:
        """Wrap the text to the new width."""
        self._wrapped.clear()
        self._strips.clear()
        self.show()

    def notify_style_update(self) -> None:
        """Colours have changed."""
        self._renderer.clear()
        self._strips.clear()
        super().notify_style_update()

    def show(self, *, settle: bool = True) -> None:
        """Get the lines again, and repaint the rows that have changed."""
        (width, height), top = self.size, self.scroll_offset.y
        if self.cursor is None or not self.is_mounted or not width:
            return
        old = self._rows
        self._wrap(self.lines(self.cursor))
        new = self._rows
        # A text that fits counts as a full page, so that its scrollbar is not drawn again.
        self.virtual_size = Size(width, max(len(new), height))
        self.refresh_rows(row for row in range(top, top + height) if old[row : row + 1] != new[row : row + 1])
        if settle:
            self.settle()

    def _wrap(self, lines: list[StyledLine]) -> None:
        """Break the lines into rows. A line that has not changed, as most of a program's, keeps its rows."""
        before = self._wrapped
        width = self.text_width
        self._wrapped = [
            before[i] if i < len(before) and before[i][0] == line else (line, wrap(line, width, self.HANGING))
            for i, line in enumerate(lines)
        ]
        self._rows, self._starts = [], []
        for _, rows in self._wrapped:
            self._starts.append(len(self._rows))
            self._rows += rows

    @property
    def text(self) -> str:
        """All of its text at this moment, unwrapped."""
        return "\n".join(plain(line).rstrip() for line in self.lines(self.cursor)) if self.cursor is not None else ""

    @property
    def text_width(self) -> int:
        """Characters of a line, without the scrollbar."""
        return max(self.size.width - 1, 1)

    def render_line(self, y: int) -> Strip:
        """One row, from the cache where it has been drawn before."""
        row = y + self.scroll_offset.y
        text = self._rows[row] if row < len(self._rows) else ()
        known = self._strips.get(row)
        if known is not None and known[0] == text:
            return known[1]
        strip = self._renderer.line(text, self.size.width)
        self._strips[row] = text, strip
        return strip
