"""The base of all views that are drawn line by line and scroll vertically."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView


class LineView(ScrollView, inherit_bindings=False):
    """A view whose length may change at every step.

    The column of its scrollbar is always reserved, and is empty while all lines are in view. So a change of length
    neither lays out the screen again nor hides the ends of lines.
    """

    ALLOW_SELECT = False  # selection would repaint the whole screen before a click takes effect
    DEFAULT_CSS = "LineView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"

    # Left, right, Home and End are not bound: they move in time from any view.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
    ]

    _sent_size = Size(0, 0)  # the last size that Textual sent

    virtual_size = Reactive(Size(0, 0), repaint=False)  # Textual's own would lay out the screen

    def watch_virtual_size(self, size: Size) -> None:
        """Show the new length in the scrollbar. Lay out only if the view's height depends on its length."""
        self.vertical_scrollbar.window_virtual_size = size.height
        if self.scroll_y > self.max_scroll_y or self.scroll_x > self.max_scroll_x:
            x, y = min(self.scroll_x, self.max_scroll_x), min(self.scroll_y, self.max_scroll_y)
            self.scroll_to(x, y, animate=False, force=True)
        if self.styles.auto_dimensions:
            self.refresh(layout=True)

    def refresh_rows(self, rows: Iterable[int], above: int = 0) -> None:
        """Repaint the given rows, as far as they are in view. `above` is the number of fixed lines at the top."""
        (width, height), top = self.size, self.scroll_offset.y - above
        seen = [row - top for row in rows if above <= row - top < height]
        if seen:  # `refresh()` without regions repaints everything
            self.refresh(*(Region(0, y, width, 1) for y in seen))

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """Pass our own sizes to Textual: its sizes would draw every scrollbar again at each layout."""
        if size != self._sent_size:
            self.call_after_refresh(self._see_size)
        return super()._size_updated(size, self.virtual_size, size - self.styles.gutter.totals, layout)

    def on_resize(self, event: Resize) -> None:
        """Note the size that Textual has sent."""
        self._sent_size = event.size

    def _see_size(self) -> None:
        """Send the size to this view: Textual sends none to a view displayed after another view has been scrolled."""
        if self.display and self.outer_size != self._sent_size:
            self.post_message(Resize(self.outer_size, self.virtual_size))
