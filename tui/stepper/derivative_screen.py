"""The page with the check of a node's derivative: what backward computes beside what finite differences give."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tui.shell.clipboard import copy
from tui.shell.spans import plain, shown
from tui.time.cursor import StepCursor
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content
from tui.words.jacobians import derivative_lines
from tui.words.titles import title

WIDEST = 116
FRAME = 4  # the columns of the page's border and padding
SCROLLBAR = 2


class DerivativeScreen(Dialog[None]):
    """Shows the Jacobians of a node that was checked, at any moment of its pass."""

    DEFAULT_CSS = f"""
    DerivativeScreen {{ align: center middle; }}
    DerivativeScreen > VerticalScroll {{
        width: {WIDEST}; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }}
    DerivativeScreen Static {{ height: auto; }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,D,enter", "dismiss", "close"),
        Binding("y", "copy", "copy", show=False),
    ]

    def __init__(self, cursor: StepCursor, node: int, *, ascii: bool = False) -> None:
        super().__init__()
        self._cursor, self._node, self._ascii = cursor, node, ascii

    def compose(self) -> ComposeResult:
        """The lines."""
        with VerticalScroll() as page:
            name, op = plain(title(self._cursor, self._node)), self._cursor.timeline.node(self._node).op
            about = f"derivative of {op}: {name}" if op not in name else f"derivative of {name}"
            page.border_title = Content(shown(about, ascii=self._ascii))
            page.border_subtitle = keys_below(("y", "y copies"), ("escape", "Esc closes"))
            yield Static()

    async def on_resize(self, event: Resize) -> None:
        """Lay the Jacobians out in the new width."""
        width = min(event.size.width, WIDEST) - FRAME - SCROLLBAR
        lines = (content(one, ascii=self._ascii) for one in derivative_lines(self._cursor, self._node, width))
        self.query_one(Static).update(Content("\n").join(lines))

    def action_copy(self) -> None:
        """Copy the whole page."""
        lines = derivative_lines(self._cursor, self._node, WIDEST)
        self.notify(copy(self.app, "\n".join(plain(one) for one in lines), "the check"), markup=False)
