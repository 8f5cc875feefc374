"""A short text at the cursor of the editor, where the learner looks: the verdict of a check."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Static, TextArea

from lessons.checking.verdict_report import Said
from tui.learn.course_text import STYLES
from tui.time.row_texts import fit

HIGHEST = 3  # lines
BESIDE = 30  # characters beside the cursor's line that are worth it: the box below says all


class CursorNote(Static):
    """A text at the cursor, until the learner types on. The editor's own lines do not move.

    It is beside the cursor's line, where it covers nothing; if that has no room, below or above it.
    """

    DEFAULT_CSS = """
    CursorNote { display: none; layer: note; position: absolute; height: auto; background: $panel; padding: 0 1; }
    """

    def __init__(self, editor: TextArea) -> None:
        super().__init__()
        self._editor = editor
        self.said = Said("")

    def show(self, said: Said) -> None:
        """Show a text."""
        self.said = said
        self.display = True
        self.place()

    def hide(self) -> None:
        """Hide the text."""
        self.display = False

    def place(self) -> None:
        """Go to where the cursor is now: the editor may have been scrolled or resized."""
        if not self.display:
            return
        editor = self._editor
        cursor, inside = editor.cursor_screen_offset, editor.content_region
        width = inside.width - editor.gutter_width
        written = cell_len(editor.document.get_line(editor.cursor_location[0]).expandtabs(editor.indent_width))
        left = written + 2  # a cell for the cursor, and one between
        room = width - left - 2
        if room >= min(cell_len(self.said.text), BESIDE):
            lines, top = [fit(self.said.text, room).rstrip()], cursor.y
        else:
            lines = textwrap.wrap(self.said.text, max(width - 2, 1), max_lines=HIGHEST, placeholder=" …")
            left, below = 0, cursor.y + 1
            top = below if below + len(lines) <= inside.bottom else cursor.y - len(lines)
        corner = self.parent.region.offset if isinstance(self.parent, Widget) else Offset()
        self.styles.offset = (inside.x + editor.gutter_width + left - corner.x, max(top, inside.y) - corner.y)
        self.styles.width = width - left
        self.update(Content.styled("\n".join(lines), STYLES[self.said.role]))
