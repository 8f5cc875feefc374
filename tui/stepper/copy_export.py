"""What leaves the stepper: copies and files."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.shell.clipboard import copy
from tui.stepper.copy_screen import CopyScreen
from tui.stepper.export_screen import ExportScreen
from tui.stepper.running import RunningScreen
from tui.widgets.pane import Pane
from tui.words.copying import MOST_LEAVES, Copyable, copyables
from tui.words.exporting import Export


class OutwardScreen(RunningScreen):
    """A screen with a cursor whose contents can be copied and written to files: what the keys y and o do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "copy a value, a formula, a line", show=False),
        Binding("o", "export", "write a picture, film, trace or screenshot", show=False),
    ]

    def action_copy(self) -> None:
        """Ask what to copy, over ssh too; the text of the pane that has the focus stands first."""
        self.stop_playing()
        if self.cursor is None:
            return
        focused = self.focused
        pane = focused if isinstance(focused, Pane) and focused.id != "sentence" else self.query_one("#node", Pane)
        found = [Copyable(f"the {pane.border_title} pane", pane.text), *copyables(self.cursor)]
        left_out = max(len(self.cursor.timeline.collectors) - MOST_LEAVES, 0)
        self.app.push_screen(CopyScreen(found, left_out=left_out, ascii=self._ascii), self._copied)

    def _copied(self, piece: Copyable | None) -> None:
        if piece is not None:
            self.notify(copy(self.app, piece.text, piece.what), timeout=6, markup=False)

    def action_export(self) -> None:
        """Ask what to write to which file, and write it."""
        self.stop_playing()
        if self.cursor is not None:
            theme = "dark" if self.app.current_theme.dark else "light"
            self.app.push_screen(
                ExportScreen(Export(self.cursor, self.app.export_screenshot(), theme, self._ascii)), self._exported
            )

    def _exported(self, said: str | None) -> None:
        if said is not None:
            self.notify(said, timeout=6, markup=False)
