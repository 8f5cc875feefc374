"""The page that lists what is wrong in the recording; the user goes to one of the findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets.option_list import Option

from microtape.recording.findings import Finding
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content
from tui.words.findings import row_of


class FindingsScreen(Dialog[Finding | None]):
    """Closes with the finding to go to, or None."""

    DEFAULT_CSS = """
    FindingsScreen { align: center middle; }
    FindingsScreen > Vertical {
        width: 116; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    FindingsScreen OptionList, FindingsScreen OptionList:focus {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,F", "close", "close", show=False),
        Binding("j,exclamation_mark", "walk(1)", show=False),
        Binding("k", "walk(-1)", show=False),
    ]

    def __init__(self, found: Sequence[Finding], shown: int, *, ascii: bool = False) -> None:
        super().__init__()
        self._found = found
        self._shown = shown
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """The list: a row for each finding, the worst first."""
        with Vertical() as box:
            box.border_title = "findings"
            box.border_subtitle = keys_below(("enter", "Enter goes there"), ("escape", "Esc"))
            yield Choices(*(Option(content(row_of(one, ascii=self._ascii), ascii=self._ascii)) for one in self._found))

    def on_mount(self) -> None:
        """Give the list the focus, at the finding that is shown."""
        rows = self.query_one(Choices)
        rows.highlighted = self._shown
        rows.focus()

    def chose(self, row: int) -> None:
        """Go to the finding on Enter or a click."""
        self.dismiss(self._found[row])

    def action_walk(self, by: int) -> None:
        """Highlight the next or the previous row."""
        rows = self.query_one(Choices)
        (rows.action_cursor_down if by > 0 else rows.action_cursor_up)()

    def action_close(self) -> None:
        """Close without going anywhere."""
        self.dismiss(None)
