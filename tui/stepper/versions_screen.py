"""The page with the versions of a tensor: who made each, who saved it, who read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from tui.shell.key_names import key_name
from tui.shell.spans import Line, shown
from tui.time.cursor import StepCursor
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content
from tui.words.versions import uncounted, versions_told, whose_memory

WIDEST = 120  # columns


class VersionsScreen(Dialog[int | None]):
    """Lists the versions of one of the `tensors`. Closes with the node to go to, or None."""

    FITTED = True

    DEFAULT_CSS = """
    VersionsScreen { align: center middle; }
    VersionsScreen > Vertical {
        width: 120; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    VersionsScreen Static { height: auto; color: $text-muted; }
    VersionsScreen OptionList, VersionsScreen OptionList:focus {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,V", "dismiss", "close", show=False),
        Binding("right,l,tab", "turn(1)", show=False),
        Binding("left,h", "turn(-1)", show=False),
        Binding("j", "walk(1)", show=False),
        Binding("k", "walk(-1)", show=False),
    ]

    def __init__(self, cursor: StepCursor, tensors: Sequence[int], *, ascii: bool = False) -> None:
        super().__init__()
        self._cursor = cursor
        self._tensors = tensors
        self._at = 0  # which of the tensors is shown
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """Whose memory it is, and the versions."""
        with Vertical():
            yield Static()
            yield Choices()

    def on_mount(self) -> None:
        """Show the first tensor, at its last version before this moment."""
        self._show()

    async def recompose(self) -> None:
        """Lay the page out again, for another width."""
        await super().recompose()
        self._show()

    def _show(self) -> None:
        tensor, cursor = self._tensors[self._at], self._cursor
        width = min(self.app.size.width, WIDEST) - len("│ ││")
        self.query_one(Vertical).border_title = Content(
            f"versions of {shown(cursor.tensor_label(tensor), ascii=self._ascii)}"
        )
        heading = [*whose_memory(cursor, tensor), *uncounted(cursor, tensor)]
        self.query_one(Static).update(self._content(heading))
        self.query_one(Static).display = bool(heading)
        self._told = versions_told(cursor, tensor, width)
        rows = self.query_one(Choices)
        rows.clear_options()
        rows.add_options([Option(self._content(one.lines)) for one in self._told])
        here = [i for i, one in enumerate(self._told) if one.node is not None and cursor.exists(one.node)]
        rows.highlighted = here[-1] if here else 0
        rows.focus()
        self.call_after_refresh(self.fit_lists)

    def _content(self, lines: Sequence[Line]) -> Content:
        return Content("\n").join(content(one, ascii=self._ascii) for one in lines)

    def _maker(self, row: int) -> int | None:
        """The node that made a version; None if it is not on the tape of this pass, as an update never is."""
        node = self._told[row].node
        return node if node in self._cursor.timeline.row_of else None

    def on_option_list_option_highlighted(self, event: Choices.OptionHighlighted) -> None:
        """Name the keys that lead anywhere from here."""
        left, right = (key_name(one, ascii=self._ascii) for one in ("left", "right"))
        turn = [("left", left), ("right", f"{right} another tensor")] if len(self._tensors) > 1 else []
        maker = self._maker(event.option_index) if event.option_index < len(self._told) else None
        goes = [("enter", "Enter goes to its maker")] if maker is not None else []
        self.query_one(Vertical).border_subtitle = keys_below(*turn, *goes, ("escape", "Esc"))

    def chose(self, row: int) -> None:
        """Go to the node that made the version, on Enter or a click."""
        node = self._maker(row)
        if node is None:
            self.notify("No operation on the tape of this pass made this version.", timeout=3)
        else:
            self.dismiss(node)

    def action_turn(self, by: int) -> None:
        """Show another tensor of the node."""
        self._at = (self._at + by) % len(self._tensors)
        self._show()

    def action_walk(self, by: int) -> None:
        """Highlight the next or the previous version."""
        rows = self.query_one(Choices)
        (rows.action_cursor_down if by > 0 else rows.action_cursor_up)()
