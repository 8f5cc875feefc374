"""The page that lists breakpoints and watches; the user goes to one or removes some."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets.option_list import Option

from tui.shell.spans import shown
from tui.time.breakpoints import Breakpoint, Breakpoints
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below


class StopsScreen(Dialog[tuple[Breakpoints, Breakpoint | None]]):
    """Closes with the remaining breakpoints, and the one to go to, or None."""

    DEFAULT_CSS = """
    StopsScreen { align: center middle; }
    StopsScreen > Vertical {
        width: 72; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    StopsScreen OptionList, StopsScreen OptionList:focus {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,B", "close", "close", show=False),
        Binding("d,delete,backspace", "remove", "remove", show=False),
        Binding("j", "walk(1)", show=False),
        Binding("k", "walk(-1)", show=False),
    ]

    def __init__(self, breakpoints: Breakpoints, *, ascii: bool = False) -> None:
        super().__init__()
        self._left = breakpoints
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """The list: a row for each breakpoint or watch."""
        with Vertical() as box:
            box.border_title = "breakpoints and watches"
            box.border_subtitle = keys_below(("enter", "Enter goes there"), ("d", "d removes"), ("escape", "Esc"))
            yield Choices(*(Option(self._row(one)) for one in self._left.every))

    def on_mount(self) -> None:
        """Give the list the focus."""
        self.query_one(Choices).focus()

    def chose(self, row: int) -> None:
        """Go to the breakpoint on Enter or a click."""
        self.dismiss((self._left, self._left.every[row]))

    def action_remove(self) -> None:
        """Remove the highlighted breakpoint. Removing the last one closes the page."""
        rows = self.query_one(Choices)
        if rows.highlighted is None:
            return
        at = rows.highlighted
        self._left = self._left.without(self._left.every[at])
        rows.remove_option_at_index(at)
        if self._left.every:
            rows.highlighted = min(at, len(self._left.every) - 1)
        else:
            self.action_close()

    def action_walk(self, by: int) -> None:
        """Highlight the next or the previous row."""
        rows = self.query_one(Choices)
        (rows.action_cursor_down if by > 0 else rows.action_cursor_up)()

    def action_close(self) -> None:
        """Close without going anywhere."""
        self.dismiss((self._left, None))

    def _row(self, one: Breakpoint) -> Content:
        kind = "watch" if one.kind == "watch" else "stop"
        count = len(one.moments)
        stops = f"{count:,} {'moment' if count == 1 else 'moments'}" if one.is_known else "evaluating ..."
        text = shown(one.text, ascii=self._ascii)
        return Content.assemble((kind.ljust(7), "$text-muted"), (text, "bold"), (f"   {stops}", "$text-muted"))
