"""A pane of text, drawn line by line: a step repaints only the rows that changed, without a new layout."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from tui.time.cursor import StepCursor
from tui.widgets.lines.click_targets import moment_at
from tui.widgets.lines.line_view import LineView
from tui.widgets.lines.strip_renderer import StripRenderer
from tui.widgets.lines.styled_text import StyledLine, plain, wrap

Moment = TypeVar("Moment")


class TextPane(LineView, Generic[Moment]):
    """Shows `lines(cursor)` of a subclass, wrapped and scrolled. The subclass's style sets its share of the height.

    The cursor is that of the screen: a moment of a pass, or a step inside of a function.
    """

    DEFAULT_CSS = "TextPane { padding: 0 1; }"

    NAME: ClassVar[str]  # the pane's id, its title and its tab
    EXPLAINED: ClassVar[str]  # the text of F1; `{action}` stands for the key of an action
    HANGING: ClassVar[int] = 0  # the indentation of the further rows of a wrapped line

    cursor: reactive[Moment | None] = reactive(None, repaint=False)

    def __init__(self, id: str = "", *, ascii: bool = False) -> None:
        super().__init__(id=id or self.NAME)
        self.ascii = ascii
        self.border_title = self.NAME
        self._wrapped: list[tuple[StyledLine, list[StyledLine]]] = []  # each line with its rows
        self._rows: list[StyledLine] = []
        self._starts: list[int] = []
        self._strips: dict[int, tuple[StyledLine, Strip]] = {}  # by row: its text, and the strip drawn for it
        self._renderer = StripRenderer(self)

    def lines(self, cursor: Moment) -> list[StyledLine]:
        """The pane's text at a moment."""
        raise NotImplementedError

    @property
    def is_empty(self) -> bool:
        """Whether the pane has nothing to show; it then leaves its room to the other panes."""
        return False

    def click_message(self, cursor: Moment, line: int, row: StyledLine, column: int) -> Message | None:
        """The message to post for a click: on a column of a row, which belongs to the line with this index."""
        return None

    def on_click(self, event: Click) -> None:
        """Post the message for the clicked place, if there is one."""
        row = event.y - self.gutter.top + self.scroll_offset.y
        if self.cursor is None or not self.gutter.top <= event.y or not 0 <= row < len(self._rows):
            return
        line = bisect_right(self._starts, row) - 1
        message = self.click_message(self.cursor, line, self._rows[row], event.x - self.gutter.left)
        if message is not None:
            self.post_message(message)

    def settle(self) -> None:
        """Scroll to the relevant part of a new text; by default, to its top."""
        if self.scroll_offset.y:
            self.scroll_to(y=0, animate=False, force=True)

    def row_of(self, line: int) -> int:
        """The row in which the line with this index begins."""
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
        """Clear the caches: colours have changed."""
        self._renderer.clear()
        self._strips.clear()
        super().notify_style_update()

    def show(self, *, settle: bool = True) -> None:
        """Compute the lines again, and repaint the rows that have changed."""
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
        """Break the lines into rows. A line that has not changed keeps its rows, as most lines of a program do."""
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
        """The whole text at this moment, unwrapped."""
        return "\n".join(plain(line).rstrip() for line in self.lines(self.cursor)) if self.cursor is not None else ""

    @property
    def text_width(self) -> int:
        """The width of a line in characters, without the scrollbar."""
        return max(self.size.width - 1, 1)

    def render_line(self, y: int) -> Strip:
        """One row, from the cache if its text has not changed."""
        row = y + self.scroll_offset.y
        text = self._rows[row] if row < len(self._rows) else ()
        known = self._strips.get(row)
        if known is not None and known[0] == text:
            return known[1]
        strip = self._renderer.line(text, self.size.width)
        self._strips[row] = text, strip
        return strip


class Pane(TextPane[StepCursor]):
    """A pane about a moment of a pass."""

    @dataclass
    class Chosen(Message):
        """Posted when something that belongs to a moment is clicked."""

        moment: int

    def click_message(self, cursor: StepCursor, line: int, row: StyledLine, column: int) -> Message | None:
        """Go to the moment that the clicked words name."""
        moment = moment_at(cursor, row, column)
        return None if moment is None else self.Chosen(moment)
