"""The view of the graph as boxes: the whole of a small graph, else the neighbourhood of the current node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip

from microtape.recording.findings import Severity
from tui.time.box_layout import HEIGHT, BoxLayout
from tui.time.box_picture import BoxPicture, PictureSpan
from tui.time.cursor import StepCursor
from tui.widgets.lines.line_view import LineView
from tui.widgets.tape import TapeView
from tui.words.findings import ASCII_SIGNS, SIGNS


class BoxView(LineView, can_focus=True):
    """Shows boxes and lines, and keeps the current node in view."""

    EXPLAINED = (
        "The graph. Each box is a node. A line leads from the operation that computed a value down to one that uses "
        "it; gradients travel the opposite way, up. ∂ is the gradient so far, = is the value. Of a large graph, "
        "only the neighbourhood of the current node is shown. Click a box to go to its step; < and > scroll."
    )

    DEFAULT_CSS = """
    BoxView {
        & > .boxes--plain { color: $text-muted; }
        & > .boxes--done { color: $text-primary; }
        & > .boxes--current { color: $text-accent; text-style: bold; }
        & > .boxes--delivered { color: $text-success; text-style: bold; }
        & > .boxes--failed { color: $text-error; text-style: bold; }
        & > .boxes--gradient { color: $text-accent; text-style: bold; }
        & > .boxes--text { color: $foreground; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "boxes--plain", "boxes--done", "boxes--current", "boxes--delivered", "boxes--failed", "boxes--gradient",
        "boxes--text",
    }  # fmt: skip

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("less_than_sign", "scroll_left", show=False),
        Binding("greater_than_sign", "scroll_right", show=False),
    ]

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)
    findings: reactive[Mapping[int, Severity]] = reactive(dict[int, Severity](), repaint=False)

    def __init__(self, id: str, *, ascii: bool = False) -> None:
        super().__init__(id=id)
        self.border_title = "graph"
        self._ascii = ascii
        self._picture: BoxPicture | None = None
        self._styles: dict[str, Style] = {}
        self._lines: Mapping[int, Sequence[PictureSpan]] = {}
        self._drawn: BoxLayout | None = None  # the layout of these lines

    def notify_style_update(self) -> None:
        """Clear the cache of styles: colours have changed."""
        self._styles.clear()
        super().notify_style_update()

    def watch_cursor(self) -> None:
        """Show the graph at another moment."""
        self.show()

    def watch_findings(self) -> None:
        """Mark the culprits' boxes."""
        self.show()

    def show(self) -> None:
        """Draw the current moment, unless the view is hidden."""
        new = self.cursor
        if new is None or not self.size.width:
            return
        signs = ASCII_SIGNS if self._ascii else SIGNS
        picture, before = self._follow_in_picture(new), self._lines
        now = picture.lines(new, {node: f" {signs[one]} " for node, one in self.findings.items()})
        self._lines = now
        self._follow(new)
        if picture.layout is not self._drawn:
            self._drawn = picture.layout
            self.refresh()
        else:
            self.refresh_rows(line for line in now.keys() | before.keys() if now.get(line) != before.get(line))

    def wanted_height(self, cursor: StepCursor) -> int:
        """The lines of the picture at this moment."""
        return self._follow_in_picture(cursor).layout.height

    def _follow_in_picture(self, cursor: StepCursor) -> BoxPicture:
        """The picture, laid out for the nodes of this moment."""
        picture = self._picture
        if picture is None or picture.rows.timeline is not cursor.timeline:
            picture = self._picture = BoxPicture(cursor.timeline, ascii=self._ascii)
        if picture.follow(cursor):
            self.virtual_size = Size(self._plan.width, self._plan.height)
            self.border_subtitle = picture.left_out
        return picture

    def on_resize(self, event: Resize) -> None:
        """Draw again: the view has appeared, or has another size."""
        self.show()

    def on_click(self, event: Click) -> None:
        """Choose the node that was clicked."""
        x = event.x - self.gutter.left + self.scroll_offset.x - self._margin
        y = event.y - self.gutter.top + self.scroll_offset.y
        for box in self._plan.boxes.values():
            if box.x <= x < box.x + box.width and box.y <= y < box.y + HEIGHT:
                self.post_message(TapeView.Chosen(box.node))

    @property
    def _plan(self) -> BoxLayout:
        return self._picture.layout if self._picture is not None else BoxLayout({}, {}, 0, 0)

    @property
    def _margin(self) -> int:
        return max((self.scrollable_size.width - self._plan.width) // 2, 0)

    def _follow(self, cursor: StepCursor) -> None:
        box = self._plan.boxes.get(cursor.focus) if cursor.focus is not None else None
        if box is None or not self.size.height:
            return
        at, page = self.scroll_offset, self.scrollable_size
        receivers = (self._plan.boxes[node] for node in cursor.delivered_to if node in self._plan.boxes)
        near = [one for one in receivers if box.y + HEIGHT - one.y <= page.height]
        top, left = min([box.y, *(one.y for one in near)]), min([box.x, *(one.x for one in near)])
        right = max(one.x + one.width for one in (box, *near))
        if right - left > page.width:
            left, right = box.x, box.x + box.width
        x = at.x if at.x <= left and right <= at.x + page.width else (left + right - page.width) // 2
        # Backward goes up, so leave most of the room above the box.
        seen = at.y <= top and box.y + HEIGHT <= at.y + page.height
        y = at.y if seen else min(top, box.y + HEIGHT - 2 * page.height // 3)
        if (x, y) != (at.x, at.y):
            self.scroll_to(x, y, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """One line of the picture."""
        left, width = self.scroll_offset.x, self.size.width
        ground = self._style("")
        segments: list[Segment] = []
        column = 0
        for x, text, style in self._lines.get(y + self.scroll_offset.y, ()):
            at = x + self._margin
            if at > column:
                segments.append(Segment(" " * (at - column), ground))
            segments.append(Segment(text, self._style(style)))
            column = at + cell_len(text)
        strip = Strip(segments).simplify()
        return strip.crop(left, left + width).extend_cell_length(width, ground)

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self.rich_style
            if name:
                style += self.get_component_rich_style(name, partial=True)
            self._styles[name] = style
        return style
