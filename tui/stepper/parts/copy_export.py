"""Copies to the clipboard, and writes files."""

from __future__ import annotations

from tui.shell.clipboard import copy
from tui.stepper.copy_screen import CopyScreen
from tui.stepper.export_screen import ExportScreen
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.pane import Pane
from tui.widgets.panes import PANES, NodePane
from tui.words.copying import MOST_LEAVES, Copyable, copyables
from tui.words.exporting import Export


class CopyExport(Part[Stepper]):
    """Asks what to copy, or which file to write."""

    @key(
        "y", "copy a value, a formula, a line",
        help="copy a value, a gradient, a formula, a line or a pane; works over ssh",
    )  # fmt: skip
    def copy(self) -> None:
        """Ask what to copy; the text of the focused pane is the first choice."""
        self.stepper.stop_playing()
        focused = self.stepper.focused
        pane: Pane = focused if isinstance(focused, PANES) else self.stepper.query_one(NodePane)
        found = [Copyable(f"the {pane.border_title} pane", pane.text), *copyables(self.cursor)]
        left_out = max(len(self.cursor.timeline.collectors) - MOST_LEAVES, 0)
        self.open_page(CopyScreen(found, left_out=left_out, ascii=self.stepper.ascii), self._copy)

    def _copy(self, piece: Copyable | None) -> None:
        if piece is not None:
            self.say(copy(self.stepper.app, piece.text, piece.what), 6)

    @key(
        "o", "write a picture, film, trace or screenshot",
        help="write a picture, a film, the trace or this screen to a file",
    )  # fmt: skip
    def export(self) -> None:
        """Ask for a kind of file and its name, and write the file."""
        self.stepper.stop_playing()
        app = self.stepper.app
        theme = "dark" if app.current_theme.dark else "light"
        export = Export(self.cursor, app.export_screenshot(), theme, self.stepper.ascii)
        self.open_page(ExportScreen(export), self._exported)

    def _exported(self, said: str | None) -> None:
        if said is not None:
            self.say(said, 6)
