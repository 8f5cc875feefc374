"""Two lines below the tape, while two recordings are open: which is shown, and how far they part at this moment."""

from __future__ import annotations

from typing import NamedTuple

from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.shell.spans import Line
from tui.widgets.lines.role_styles import styled
from tui.widgets.lines.strip_renderer import StripRenderer

LINES = 2


class Beside(NamedTuple):
    """What the lines say."""

    which: Line  # the recording that is shown, the key that shows the other one
    right: Line  # how many differences there are, the key that goes to the next one
    here: Line  # what differs at this moment


class BesideLine(Widget):
    """Shows a `Beside`; hidden without one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "BesideLine { height: 2; padding: 0 1; background: $surface; display: none; }"

    shown: reactive[Beside | None] = reactive(None)

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii
        self._renderer = StripRenderer(self)

    def watch_shown(self) -> None:
        """Show or hide the lines."""
        self.display = self.shown is not None

    @property
    def lines(self) -> int:
        """The number of lines that it takes."""
        return LINES if self.display else 0

    def notify_style_update(self) -> None:
        """Clear the cache of styles: colours have changed."""
        self._renderer.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        width = self.size.width
        if self.shown is None or y >= LINES:
            return self._renderer.line((), width)
        if y:
            return self._fitted(self.shown.here, width)
        right = self._renderer.strip(styled(self.shown.right, ascii=self._ascii))
        return Strip.join([self._fitted(self.shown.which, width - right.cell_length), right])

    def _fitted(self, line: Line, width: int) -> Strip:
        """The line in that width; a longer one ends in an ellipsis."""
        text = self._renderer.strip(styled(line, ascii=self._ascii))
        if text.cell_length <= width:
            return text.adjust_cell_length(width, self._renderer.style(""))
        ellipsis = "..." if self._ascii else "…"
        dots = self._renderer.strip(styled((line[-1]._replace(text=ellipsis),), ascii=self._ascii))
        return Strip.join([text.crop(0, max(width - dots.cell_length, 0)), dots]).crop(0, width)
