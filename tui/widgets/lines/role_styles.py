"""The style of each role that a text can have, and lines of spans in these styles."""

from __future__ import annotations

from textual.content import Content

from tui.shell.spans import Line, Role, shown
from tui.widgets.lines.styled_text import StyledLine, TextSegment, joined

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
    "warn": "bold $text-warning",
    "bad": "bold $text-error",
}


def content(spans: Line, *, ascii: bool = False) -> Content:
    """The line with the styles of its roles, for Textual's own widgets."""
    return Content.assemble(*((shown(span.text, ascii=ascii), STYLES[span.role]) for span in spans))


def styled(spans: Line, *, ascii: bool = False) -> StyledLine:
    """The line with the styles of its roles, for widgets that draw their own lines."""
    return joined(TextSegment(shown(span.text, ascii=ascii), STYLES[span.role]) for span in spans)
