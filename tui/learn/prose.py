"""A lesson's text."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownFence


class Block(MarkdownFence):
    """A block of code. Without a language it is plain text: guessing takes 0.1 s and would colour formulas."""

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        """Highlight as the given language."""
        return super().highlight(code, language or "text", ansi, dark)


class Prose(Markdown):
    """Markdown with our code blocks."""

    BLOCKS = {**Markdown.BLOCKS, "fence": Block, "code_block": Block}  # noqa: RUF012
