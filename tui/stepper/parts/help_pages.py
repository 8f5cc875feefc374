"""Help: the page of all keys and marks, and an explanation of the focused view or pane."""

from __future__ import annotations

from collections.abc import Sequence

from tui.stepper.parts.key_declarations import Key, help_rows, key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.help import HelpScreen


class HelpPages(Part[Stepper]):
    """Opens the help pages."""

    def __init__(self, stepper: Stepper, keys: Sequence[Key]) -> None:
        super().__init__(stepper)
        self._keys = keys

    @key("f1", "explain the focused view or pane", help="explain the focused view or pane")
    def explain(self) -> None:
        """Explain the focused view or pane; if none has the focus, open the page of keys."""
        focused = self.stepper.focused
        for widget in focused.ancestors_with_self if focused is not None else ():
            text = getattr(widget, "EXPLAINED", None)
            if text is not None:
                self.open_page(HelpScreen((widget.id or "", text), names=self.stepper.key_names))
                return
        self.help()

    @key("question_mark", "help", footer=8)
    def help(self) -> None:
        """Open the page of keys and marks."""
        self.open_page(HelpScreen(rows=help_rows(self._keys), names=self.stepper.key_names))
