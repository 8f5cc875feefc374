"""The page that asks what to copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from tui.shell.spans import shown
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below
from tui.words.copying import Copyable


class CopyScreen(Dialog[Copyable | None]):
    """Lists what can be copied. Closes with the chosen piece, or None."""

    FITTED = True

    DEFAULT_CSS = """
    CopyScreen { align: center middle; }
    CopyScreen > Vertical {
        width: 100; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    CopyScreen OptionList, CopyScreen OptionList:focus {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
    }
    CopyScreen .rest { color: $text-muted; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "close", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, pieces: Sequence[Copyable], *, left_out: int = 0, ascii: bool = False) -> None:
        super().__init__()
        self._pieces = pieces
        self._left_out = left_out  # leaves that are not in the list
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """The name of each piece on the left, the beginning of its text on the right."""
        width = min(max(len(piece.what) for piece in self._pieces), 36)
        with Vertical() as box:
            box.border_title = "copy"
            box.border_subtitle = keys_below(("enter", "Enter or y copies"), ("escape", "Esc"))
            yield Choices(*(Option(self._row(piece, width)) for piece in self._pieces))
            if self._left_out:
                yield Static(f"{self._left_out:,} more leaves: go to a leaf (g) to copy it", classes="rest")

    def on_mount(self) -> None:
        """Give the list the focus."""
        self.query_one(Choices).focus()

    def chose(self, row: int) -> None:
        """Copy the piece on Enter or a click."""
        self.dismiss(self._pieces[row])

    def action_copy(self) -> None:
        """Copy the highlighted piece. Pressing `y` twice in the stepper copies the first one."""
        self.query_one(Choices).action_select()

    def action_down(self) -> None:
        """Highlight the next piece."""
        self.query_one(Choices).action_cursor_down()

    def action_up(self) -> None:
        """Highlight the previous piece."""
        self.query_one(Choices).action_cursor_up()

    def _row(self, piece: Copyable, width: int) -> Content:
        what = shown(piece.what, ascii=self._ascii)
        what = what if len(what) <= width else what[: width - 3] + "..."
        room = max(min(96, self.app.size.width - 4) - width - 2, 10)
        text = shown(piece.shown, ascii=self._ascii)
        text = text if len(text) <= room else text[: room - 3] + "..."
        return Content.assemble((what.ljust(width), "bold"), "  ", (text, "$text-muted"))
