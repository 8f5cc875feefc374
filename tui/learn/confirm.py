"""A dialog that asks for confirmation."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tui.widgets.dialog import Dialog


class ConfirmScreen(Dialog[bool]):
    """Asks before an action that cannot be undone; y means yes, every other key no."""

    DEFAULT_CSS = """
    ConfirmScreen { align: center middle; }
    ConfirmScreen > Static {
        width: 60; max-width: 100%; height: auto; border: round $warning; background: $surface; padding: 1 2;
        border-subtitle-color: $text-muted;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape,q,enter", "dismiss(False)", "no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question."""
        box = Static(Content(self._question))
        box.border_subtitle = "y yes · n no"
        yield box
