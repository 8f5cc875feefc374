"""What things look like: the two themes of our own, and the style of every role that text can have."""

from __future__ import annotations

from textual.content import Content
from textual.theme import Theme

from tui.pieces import Piece, Text, joined
from tui.spans import Line, Role, shown

DARK = Theme(
    name="microtape-dark",
    primary="#6cb6ff",
    secondary="#4fb8c4",
    warning="#e3b866",
    error="#ff7b72",
    success="#7ecb8f",
    accent="#f58fc6",
    foreground="#d6dbe3",
    background="#14171c",
    surface="#191d23",
    panel="#303845",
    dark=True,
    variables={"text-muted": "#8b95a5", "text-disabled": "#5c6675", "foreground-muted": "#8b95a5"},
)
LIGHT = Theme(
    name="microtape-light",
    primary="#0b5cad",
    secondary="#0b6b78",
    warning="#7d4e00",
    error="#b3201b",
    success="#1a6b34",
    accent="#a3156f",
    foreground="#1f242b",
    background="#fcfcfd",
    surface="#f4f5f8",
    panel="#dfe3ea",
    dark=False,
    variables={"text-muted": "#5f6876", "text-disabled": "#8d96a3", "foreground-muted": "#5f6876"},
)
THEMES = {"dark": DARK, "light": LIGHT}

STYLES: dict[Role, str] = {
    "": "",
    "label": "$text-muted",
    "dim": "$text-muted",
    "strong": "bold",
    "op": "$text-warning",
    "leaf": "bold $text-success",
    "name": "bold $text-primary",
    "value": "$text-secondary",
    "gradient": "bold $text-accent",
    "good": "$text-success",
    "bad": "bold $text-error",
}


def content(spans: Line, *, ascii: bool = False) -> Content:
    """The line, coloured by its roles."""
    return Content.assemble(*((shown(span.text, ascii=ascii), STYLES[span.role]) for span in spans))


def styled(spans: Line, *, ascii: bool = False) -> Text:
    """The same for a pane."""
    return joined(Piece(shown(span.text, ascii=ascii), STYLES[span.role]) for span in spans)
