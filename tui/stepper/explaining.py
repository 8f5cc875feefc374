"""Asking what is on the screen: why a gradient is what it is, its numbers, help: `x a F1`, `Enter` and `?`."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.stepper.finding import FindingScreen
from tui.stepper.why_screen import WhyScreen
from tui.time.arrays import arrays_of
from tui.widgets.array_view import ArrayScreen
from tui.widgets.explained import EXPLAINED
from tui.widgets.help import HelpScreen
from tui.words.why import refer, subject


class ExplainingScreen(FindingScreen):
    """A screen with a cursor that explains what one sees."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "array", "show the numbers of this node", show=False),
        Binding("x", "ask('why of')", "why is a gradient what it is, or None?", show=False),
        Binding("f1", "explain", "explain what has the focus", show=False),
    ]

    def action_why(self) -> None:
        """Explain the current node's gradient."""
        self.stop_playing()
        if self.cursor is not None and self.cursor.focus is not None:
            self.explain("")

    def action_array(self) -> None:
        """Show the numbers of the current node."""
        self.stop_playing()
        cursor = self.cursor
        arrays = arrays_of(cursor, cursor.focus) if cursor is not None and cursor.focus is not None else []
        if cursor is None or not arrays:
            self.notify("There are no numbers here yet.", timeout=3)
            return

        def explain(index: tuple[int, ...] | None) -> None:
            if index is not None and cursor.focus is not None:
                about = subject(cursor, cursor.focus, index)
                self.app.push_screen(WhyScreen(cursor, about, ascii=self._ascii), self._go_to_node)

        self.app.push_screen(ArrayScreen(arrays, ascii=self._ascii), explain)

    def explain(self, text: str) -> None:
        """Why a gradient is what it is; an empty text means the current node.

        Raises:
            LookupError: there is no such thing; the message is for the user.
        """
        if self.cursor is not None:
            screen = WhyScreen(self.cursor, refer(self.cursor, text), ascii=self._ascii)
            self.app.push_screen(screen, self._go_to_node)

    def _go_to_node(self, node: int | None) -> None:
        if node is not None and self.cursor is not None:
            self.cursor = self.cursor.goto_node(node)

    def action_help(self) -> None:
        """What the keys do and the marks mean."""
        self.app.push_screen(HelpScreen(keys=self.key_names))

    def action_explain(self) -> None:
        """What the view or pane that has the focus shows, and what its keys and marks are."""
        about = (
            next((one.id for one in self.focused.ancestors_with_self if one.id in EXPLAINED), None)
            if self.focused
            else None
        )
        self.app.push_screen(HelpScreen(about, self.key_names))
