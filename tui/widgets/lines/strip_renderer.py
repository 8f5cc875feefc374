"""Renders styled text as Textual strips, for widgets that draw their own lines."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tui.widgets.lines.styled_text import StyledLine


class StripRenderer:
    """Renders text for one widget. Styles are cached, because Textual computes them at every access."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, RichStyle] = {}

    def clear(self) -> None:
        """Clear the cache of styles: colours have changed."""
        self._styles.clear()

    def style(self, name: str) -> RichStyle:
        """The Rich style for a Textual style, on top of the widget's own."""
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = (self._widget.visual_style + Style.parse(name)).rich_style
        return style

    def strip(self, text: StyledLine) -> Strip:
        """The styled text as a strip of its own width."""
        return Strip([Segment(segment.text, self.style(segment.style)) for segment in text])

    def line(self, text: StyledLine, width: int) -> Strip:
        """The styled text as a strip, cut or padded to a width."""
        return self.strip(text).adjust_cell_length(width, self.style(""))
