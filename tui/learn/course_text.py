"""Text of the course on the screen: scrolling pages, styles of roles, ASCII for terminals that need it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from lessons.checking.verdict_report import Role
from viz.basics.characters import to_ascii

PROSE: tuple[Role, ...] = ("strong", "")  # the roles of prose, with names in backticks
STYLES: dict[Role, str] = {
    "good": "$text-success",
    "bad": "bold $text-error",
    "strong": "bold",
    "dim": "$text-muted",
    "": "",
}


class Page(VerticalScroll, inherit_bindings=False):
    """A scrolling page of text. It does not bind left and right: these step through the program from any view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown,space", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]


def flowing(markdown: str) -> str:
    """Markdown with the lines of each paragraph joined, to be wrapped to the box; code is unchanged."""
    paragraphs = markdown.split("\n\n")
    return "\n\n".join(text if text.startswith(("    ", "```")) else text.replace("\n", " ") for text in paragraphs)


def terminal_text(text: str, *, ascii: bool) -> str:
    """Text of the course, in ASCII if asked; line breaks are kept."""
    return "\n".join(to_ascii(line) for line in text.split("\n")) if ascii else text
