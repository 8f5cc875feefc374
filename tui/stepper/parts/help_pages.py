"""Help: the page of all keys and marks, and what the view or pane that has the focus shows."""

from __future__ import annotations

from collections.abc import Sequence

from tui.stepper.parts.key_declarations import Key, help_rows, key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.help import HelpScreen


class HelpPages(Part[Stepper]):
    """Opens the pages of help."""

    def __init__(self, stepper: Stepper, keys: Sequence[Key]) -> None:
        super().__init__(stepper)
        self._keys = keys

    @key("f1", "explain what has the focus", help="explain the view or pane that has the focus")
    def explain(self) -> None:
        """Explain the view or pane that has the focus; where none has it, open the page of keys."""
        focused = self.stepper.focused
        for widget in focused.ancestors_with_self if focused is not None else ():
            text = getattr(widget, "EXPLAINED", None)
            if text is not None:
                self.open_page(HelpScreen((widget.id or "", text), names=self.stepper.key_names))
                return
        self.help()

    @key("question_mark", "help", footer=8)
    def help(self) -> None:
        """Say what the keys do and what the marks mean."""
        self.open_page(HelpScreen(rows=help_rows(self._keys), names=self.stepper.key_names))
