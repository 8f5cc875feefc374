"""A lesson's text."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownFence


class Block(MarkdownFence):
    """A block of code. One that names no language is text: guessing takes a tenth of a second, and colours formulas."""

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        """Coloured as what it says it is."""
        return super().highlight(code, language or "text", ansi, dark)


class Prose(Markdown):
    """Markdown with these blocks."""

    BLOCKS = {**Markdown.BLOCKS, "fence": Block, "code_block": Block}  # noqa: RUF012
