"""Text with `names` in backticks, for Textual."""

from __future__ import annotations

from textual.content import Content


def colour_names(text: str, style: str = "") -> Content:
    """The text without its backticks, with the names between them coloured."""
    return Content.assemble(
        *((part, "$text-primary" if i % 2 else style) for i, part in enumerate(text.split("`")) if part)
    )
