"""The line below the heading: the finding that is shown, and which of how many it is; else what the pass computes."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from microtape.recording.findings import Finding
from tui.shell.spans import Line
from tui.widgets.lines.role_styles import STYLES, styled
from tui.widgets.lines.strip_renderer import StripRenderer
from tui.widgets.lines.styled_text import StyledLine, TextSegment, wrap
from tui.words.findings import ROLES, finding_line

LOW = 24  # lines: a lower terminal has none to spare
HANGING = 2  # columns: the sign and a space


class ShownFinding(NamedTuple):
    """The finding in the line."""

    finding: Finding
    number: int  # from 1
    of: int
    key: str  # the key that leads to the next one
    explains: str  # the key that explains it here; empty if it would explain something else


class FindingLine(Widget):
    """The headline of a finding, on a second line where it needs one.

    If nothing is wrong, one line says what the pass computes, unless the terminal is low.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "FindingLine { height: auto; padding: 0 1; background: $surface; display: none; }"

    shown: reactive[ShownFinding | Line | None] = reactive(None, layout=True)

    class Clicked(Message):
        """Posted when the line is clicked."""

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii
        self._renderer = StripRenderer(self)

    def watch_shown(self) -> None:
        """Show or hide the line."""
        self.fit(self.screen.size)

    def fit(self, terminal: Size) -> None:
        """Show or hide the line in a terminal of that size."""
        self.display = isinstance(self.shown, ShownFinding) or (self.shown is not None and terminal.height >= LOW)

    def height_at(self, terminal: Size) -> int:
        """The number of lines that it takes in a terminal of that size."""
        return len(self._lines(terminal.width - 2)) if self.display else 0

    def notify_style_update(self) -> None:
        """Clear the cache of styles: colours have changed."""
        self._renderer.clear()
        super().notify_style_update()

    def on_click(self) -> None:
        """Go to the finding."""
        self.post_message(self.Clicked())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of lines that the headline takes."""
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        """A line of the headline; the first one ends with the number of the finding."""
        width = self.size.width
        lines = self._lines(width)
        if y >= len(lines):
            return self._renderer.line((), width)
        text = self._renderer.strip(lines[y])
        if y or not isinstance(self.shown, ShownFinding):
            return text.adjust_cell_length(width, self._renderer.style(""))
        right = self._renderer.strip(self._right(self.shown, width))
        left = text.adjust_cell_length(width - right.cell_length, self._renderer.style(""))
        return Strip.join([left, right])

    def _lines(self, width: int) -> list[StyledLine]:
        if self.shown is None or not width:
            return []
        if not isinstance(self.shown, ShownFinding):
            return [self._first_line(self.shown, width)]
        room = width - sum(cell_len(one.text) for one in self._right(self.shown, 0)) - 1
        return wrap(styled(finding_line(self.shown.finding, ascii=self._ascii), ascii=self._ascii), room, HANGING)

    def _first_line(self, line: Line, width: int) -> StyledLine:
        """As much of the line as fits; an ellipsis stands for the rest."""
        text = styled(line, ascii=self._ascii)
        if len(lines := wrap(text, width, HANGING)) == 1:
            return lines[0]
        ellipsis = TextSegment(" ..." if self._ascii else " …", "")
        return (*wrap(text, width - cell_len(ellipsis.text), HANGING)[0], ellipsis)

    def _right(self, one: ShownFinding, width: int) -> StyledLine:
        """`Enter explains   ! 1 of 2`; of a narrow line, only its end."""
        count = TextSegment(f"{one.key} {one.number} of {one.of}", STYLES[ROLES[one.finding.severity]])
        hint = f"{one.explains} explains   " if one.explains else ""
        needed = cell_len(one.finding.headline) + HANGING + len(hint) + len(count.text) + 1
        return (TextSegment(hint, "$text-muted"), count) if hint and needed <= width else (count,)
