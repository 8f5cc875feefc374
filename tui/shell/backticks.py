"""Text with `names` in backticks and *stressed* words, for Textual."""

from __future__ import annotations

import re

from textual.content import Content

STRESSED = re.compile(r"(?<![\w*])\*(\w[^*]*)\*(?![\w*])")


def colour_names(text: str, style: str = "") -> Content:
    """The text without its marks: names between backticks are coloured, and words between asterisks are italic."""
    parts: list[tuple[str, str]] = []
    for i, part in enumerate(text.split("`")):
        if i % 2:
            parts.append((part, "$text-primary"))
        else:
            parts += [(words, f"{style} italic" if j % 2 else style) for j, words in enumerate(STRESSED.split(part))]
    return Content.assemble(*(part for part in parts if part[0]))
