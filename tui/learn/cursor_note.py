"""A short text at the cursor of the editor, where the learner looks: the verdict of a check."""

from __future__ import annotations

import textwrap

from textual.content import Content
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Static, TextArea

from lessons.checking.verdict_report import Said
from tui.learn.course_text import STYLES

HIGHEST = 3  # lines


class CursorNote(Static):
    """A text below the line of the cursor, until the learner types on. The editor's own lines do not move."""

    DEFAULT_CSS = """
    CursorNote { display: none; layer: note; position: absolute; height: auto; background: $panel; padding: 0 1; }
    """

    def __init__(self, editor: TextArea) -> None:
        super().__init__()
        self._editor = editor
        self.said = Said("")

    def show(self, said: Said) -> None:
        """Show a text below the cursor's line, or above it where there is no room below."""
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
        width = self._editor.content_size.width - self._editor.gutter_width
        lines = textwrap.wrap(self.said.text, max(width - 2, 1), max_lines=HIGHEST, placeholder=" …")
        cursor, inside = self._editor.cursor_screen_offset, self._editor.content_region
        below = cursor.y + 1
        top = below if below + len(lines) <= inside.bottom else cursor.y - len(lines)
        corner = self.parent.region.offset if isinstance(self.parent, Widget) else Offset()
        self.styles.offset = (inside.x + self._editor.gutter_width - corner.x, max(top, inside.y) - corner.y)
        self.styles.width = width
        self.update(Content.styled("\n".join(lines), STYLES[self.said.role]))
