"""The graph as boxes: all of a small one, the neighbourhood of the current node in a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.boxes import HEIGHT, Box, Plan, lay_out
from tui.cursor import StepCursor
from tui.lanes import CONNECTORS, TO_ASCII
from tui.rows import Rows, fit
from tui.tape import TapeView
from tui.timeline import Timeline

WHOLE = 40  # nodes up to which all of the graph is drawn
NEAR = 14  # nodes of a neighbourhood
FAN = 4  # users of one value that a neighbourhood shows
WIDEST, NARROWEST = 24, 16  # characters inside of a box


class BoxView(ScrollView, can_focus=True, inherit_bindings=False):
    """Boxes and lines; the current node in the middle of the view."""

    DEFAULT_CSS = """
    BoxView {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
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
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("less_than_sign", "scroll_left", show=False),
        Binding("greater_than_sign", "scroll_right", show=False),
    ]

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)

    def __init__(self, id: str, *, ascii: bool = False) -> None:
        super().__init__(id=id)
        self.border_title = "graph"
        self._ascii = ascii
        self._plan = Plan({}, {}, 0, 0)
        self._shown: tuple[int, ...] = ()
        self._rows: Rows | None = None
        self._styles: dict[str, Style] = {}
        self._lines: dict[int, list[tuple[int, str, str]]] = {}

    def notify_style_update(self) -> None:
        """Colours have changed."""
        self._styles.clear()
        super().notify_style_update()

    def watch_cursor(self) -> None:
        """Show the graph at another moment."""
        self.show()

    def show(self) -> None:
        """Draw the present moment, unless nobody sees it."""
        new = self.cursor
        if new is None or not self.size.width:
            return
        if self._rows is None or self._rows.timeline is not new.timeline:
            self._rows = Rows(new.timeline, ascii=self._ascii)
            self._shown = ()
        shown = tuple(new.timeline.rows) if len(new.timeline.rows) <= WHOLE else neighbourhood(new.timeline, new.focus)
        if shown != self._shown:
            self._shown = shown
            rows = self._rows
            widths = {node: min(max(len(self._label(rows, node)), NARROWEST), WIDEST) + 2 for node in shown}
            self._plan = lay_out(operands_of(new.timeline, shown), widths)
            self.virtual_size = Size(self._plan.width, self._plan.height)
            whole = len(shown) == len(new.timeline.rows)
            self.border_subtitle = "" if whole else f"{len(shown)} of {len(new.timeline.rows):,} nodes: around this one"
        self._write(new)
        self._follow(new)
        self.refresh()

    def on_resize(self) -> None:
        """It has come into sight, or has another size."""
        self.show()

    def on_click(self, event: Click) -> None:
        """Choose the node that was clicked."""
        x = event.x - self.gutter.left + self.scroll_offset.x - self._margin
        y = event.y - self.gutter.top + self.scroll_offset.y
        for box in self._plan.boxes.values():
            if box.x <= x < box.x + box.width and box.y <= y < box.y + HEIGHT:
                self.post_message(TapeView.Chosen(box.node))

    @property
    def _margin(self) -> int:
        return max((self.size.width - self._plan.width) // 2, 0)

    def _follow(self, cursor: StepCursor) -> None:
        box = self._plan.boxes.get(cursor.focus) if cursor.focus is not None else None
        if box is None or not self.size.height:
            return
        at, page = self.scroll_offset, self.size
        receivers = (self._plan.boxes[node] for node in cursor.delivered_to if node in self._plan.boxes)
        near = [one for one in receivers if box.y + HEIGHT - one.y <= page.height]
        top, left = min([box.y, *(one.y for one in near)]), min([box.x, *(one.x for one in near)])
        right = max(one.x + one.width for one in (box, *near))
        if right - left > page.width:
            left, right = box.x, box.x + box.width
        x = at.x if at.x <= left and right <= at.x + page.width else (left + right - page.width) // 2
        # Backward goes up, so the room is left above.
        seen = at.y <= top and box.y + HEIGHT <= at.y + page.height
        y = at.y if seen else min(top, box.y + HEIGHT - 2 * page.height // 3)
        if (x, y) != (at.x, at.y):
            self.scroll_to(x, y, animate=False, force=True)

    def _label(self, rows: Rows, node: int) -> str:
        record = rows.timeline.node(node)
        name = rows.name(record)
        return (
            name
            if record.variable is not None and name
            else f"%{node} {rows.op(record)}" + (f"  {name}" if name else "")
        )

    def _write(self, cursor: StepCursor) -> None:
        """All of the picture as pieces of text: line -> (column, text, style), in order."""
        assert self._rows is not None
        lines: dict[int, list[tuple[int, str, str]]] = {}
        for (y, x), cell in self._plan.cells.items():
            arrived = bool(cursor.arrived(cell.node))
            here = cell.node in cursor.delivered_to
            style = "boxes--delivered" if here else "boxes--done" if arrived else "boxes--plain"
            lines.setdefault(y, []).append((x, CONNECTORS[cell.arms], style))
        for box in self._plan.boxes.values():
            for y, x, text, style in self._box(cursor, self._rows, box):
                lines.setdefault(y, []).append((x, text, style))
        self._lines = {y: sorted(pieces) for y, pieces in lines.items()}

    def _box(self, cursor: StepCursor, rows: Rows, box: Box) -> Sequence[tuple[int, int, str, str]]:
        state, node = cursor.state(box.node), rows.timeline.node(box.node)
        failed = state == "current" and cursor.step is not None and cursor.step.error is not None
        frame = ("boxes--failed" if failed else "boxes--current" if state == "current"
                 else "boxes--delivered" if box.node in cursor.delivered_to
                 else "boxes--done" if state == "done" else "boxes--plain")  # fmt: skip
        inner = box.width - 2
        corners = "╭╮╰╯" if node.variable is not None else "┏┓┗┛" if state == "current" else "┌┐└┘"
        across, down = ("━", "┃") if corners == "┏┓┗┛" else ("─", "│")
        sign = "= " if cursor.is_forward else "d " if self._ascii else "∂ "
        tells = rows.value if cursor.is_forward else rows.gradient
        label = fit(self._label(rows, box.node), inner, ascii=self._ascii)
        text = "boxes--text" if frame != "boxes--plain" else "boxes--plain"
        value = fit(sign + tells(cursor, box.node, inner - 2), inner, ascii=self._ascii)
        shows = "boxes--gradient" if cursor.arrived(box.node) else "boxes--plain"
        shows = text if cursor.is_forward else shows
        pieces = [(box.y, box.x, corners[0] + across * inner + corners[1], frame)]
        for y, piece, style in ((box.y + 1, label, text), (box.y + 2, value, shows)):
            pieces += [(y, box.x, down, frame), (y, box.x + 1, piece, style), (y, box.x + inner + 1, down, frame)]
        return (*pieces, (box.y + 3, box.x, corners[2] + across * inner + corners[3], frame))

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
            segments.append(Segment(text.translate(ASCII_BOXES) if self._ascii else text, self._style(style)))
            column = at + len(text)
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


ASCII_BOXES = {**TO_ASCII, **str.maketrans("┌┐└┘┏┓┗┛━┃", "++++####=H")}


def neighbourhood(timeline: Timeline, focus: int | None) -> tuple[int, ...]:
    """The nodes nearest to one, in tape order: what it uses and what uses it, then theirs."""
    if focus is None or not timeline.rows:
        return tuple(timeline.rows[-NEAR:])
    found, edge = {focus: None}, [focus]
    while edge and len(found) < NEAR:
        following: list[int] = []
        for node in edge:
            near = [*dict.fromkeys(one.node for one in timeline.node(node).edges if one.node is not None)]
            # What else uses a leaf is not near: the same weights are used all over a network.
            users = () if timeline.node(node).variable is not None and node != focus else timeline.users.get(node, ())
            for one in [*near, *users[-FAN:]]:
                if one not in found and one in timeline.row_of and len(found) < NEAR:
                    found[one] = None
                    following.append(one)
        edge = following
    return tuple(sorted(found))


def operands_of(timeline: Timeline, shown: Sequence[int]) -> Mapping[int, Sequence[int]]:
    """For each of these nodes, those among them whose values it uses."""
    known = set(shown)
    return {
        node: [
            one.node
            for one in timeline.node(node).edges
            if one.node is not None and one.node in known and one.node < node
        ]
        for node in shown
    }
