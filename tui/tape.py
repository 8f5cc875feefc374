"""The tape: a row a node in the order of recording, with lanes for live values. The main view.

It draws single lines (Textual's line API) and remembers them. A row's looks depend on that row alone, so a step
repaints the few rows that it changed, and thirty thousand rows step as fast as thirty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.cursor import State, StepCursor
from tui.rows import GAP, HEADINGS, Columns, Rows, fit

HEADER = 1  # line of headings
MARKER = 2  # columns of the marker
SCROLLBAR = 1  # its column is kept free, so that it never hides the end of a number
REPAINT_ALL = 300  # rows that may change in one step before everything is repainted
GLYPHS = {"current": "▶", "next": "▷", "delivered": "+", "failed": "✗", "stop": "◆", "none": " "}
ASCII_GLYPHS = {"current": ">", "next": ")", "delivered": "+", "failed": "x", "stop": "B", "none": " "}


class TapeView(ScrollView, can_focus=True, inherit_bindings=False):
    """The tape of a cursor's pass, with the current row in view."""

    DEFAULT_CSS = """
    TapeView {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .tape--heading { color: $text-muted; text-style: underline; }
        & > .tape--past { color: $foreground; }
        & > .tape--future { color: $text-muted; }
        & > .tape--outside { color: $text-disabled; }
        & > .tape--current { background: $accent-muted; text-style: bold; }
        & > .tape--delivered { background: $primary-muted; }
        & > .tape--failed { background: $error-muted; text-style: bold; }
        & > .tape--marker { color: $text-accent; text-style: bold; }
        & > .tape--number { color: $text-muted; }
        & > .tape--lane { color: $text-primary; }
        & > .tape--op { color: $text-warning; }
        & > .tape--leaf { color: $text-success; }
        & > .tape--name { color: $text-primary; text-style: bold; }
        & > .tape--value { color: $text-secondary; }
        & > .tape--gradient { color: $text-accent; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "tape--heading", "tape--past", "tape--future", "tape--outside", "tape--current", "tape--delivered",
        "tape--failed", "tape--marker", "tape--number", "tape--lane", "tape--op", "tape--leaf", "tape--name",
        "tape--value", "tape--gradient",
    }  # fmt: skip

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
    ]

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)
    stops: reactive[frozenset[int]] = reactive(frozenset(), repaint=False)  # nodes with a breakpoint

    @dataclass
    class Chosen(Message):
        """A row was clicked."""

        node: int

    def __init__(self, id: str, *, ascii: bool = False) -> None:
        super().__init__(id=id)
        self.border_title = "tape"
        self._ascii = ascii
        self._glyphs = ASCII_GLYPHS if ascii else GLYPHS
        self._rows: Rows | None = None
        self._columns: Columns | None = None
        self._strips: dict[int, Strip] = {}
        self._styles: dict[tuple[str, ...], Style] = {}
        self._delivered: frozenset[int] = frozenset()

    def on_resize(self, event: Resize) -> None:
        """Share the new width out among the columns."""
        self._lay_out()

    def notify_style_update(self) -> None:
        """Colours have changed. Styles are remembered because Textual works them out at every access."""
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    def watch_cursor(self, old: StepCursor | None, new: StepCursor | None) -> None:
        """Repaint what the move has changed and bring the current row into view."""
        if new is None:
            return
        self._delivered = new.delivered_to
        if old is None or old.timeline is not new.timeline:
            self._rows = Rows(new.timeline, ascii=self._ascii)
            self._lay_out()
            return
        changed = _changed(old, new)
        if changed is None:
            self._strips.clear()
            self.refresh()
        else:
            for row in changed:
                self._strips.pop(row, None)
                self.refresh(Region(0, row + HEADER - self.scroll_offset.y, self.size.width, 1))
        self._follow()

    def watch_stops(self) -> None:
        """A breakpoint was set or taken away."""
        self._strips.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The headings, or a row."""
        if y == 0 or self._rows is None or self._columns is None or self.cursor is None:
            return self._headings()
        row = y - HEADER + self.scroll_offset.y
        if row >= len(self._rows.timeline.rows):
            return Strip.blank(self.size.width, self._style())
        strip = self._strips.get(row)
        if strip is None:
            strip = self._strips[row] = self._draw(row, self._rows, self._columns, self.cursor)
        return strip

    def on_click(self, event: Click) -> None:
        """Choose the row that was clicked."""
        row = event.y - self.gutter.top - HEADER + self.scroll_offset.y
        if self._rows is not None and 0 <= row < len(self._rows.timeline.rows):
            self.post_message(self.Chosen(self._rows.timeline.rows[row]))

    def _lay_out(self) -> None:
        if self._rows is None or self.cursor is None or not self.size.width:
            return
        self._columns = self._rows.columns(self.size.width - MARKER - SCROLLBAR)
        self._strips.clear()
        self.virtual_size = Size(self.size.width, len(self._rows.timeline.rows) + HEADER)
        self.refresh()
        self._follow()

    def _follow(self) -> None:
        """Keep the current row in view: near an edge, move on by a third of a page, so that most steps move nothing."""
        if self.cursor is None or self.cursor.focus is None:
            return
        row, page = self.cursor.timeline.row_of[self.cursor.focus], self.size.height - HEADER
        margin = min(2, max(page // 2 - 1, 0))
        top = self.scroll_offset.y
        if row < top + margin:
            self.scroll_to(y=row - 2 * page // 3, animate=False, force=True)
        elif row >= top + page - margin:
            self.scroll_to(y=row - page // 3, animate=False, force=True)

    def _headings(self) -> Strip:
        style = self._style("tape--heading")
        text = " " * MARKER
        if self._columns is not None:
            text += (" " * GAP).join(fit(h, w) for h, w in zip(HEADINGS, self._columns.widths, strict=True))
        return Strip([Segment(fit(text, self.size.width), style)], self.size.width)

    def _draw(self, row: int, rows: Rows, columns: Columns, cursor: StepCursor) -> Strip:
        node = rows.timeline.rows[row]
        record, state = rows.timeline.node(node), cursor.state(node)
        ground, glyph = self._ground(cursor, node, state)
        past = row < cursor.frontier if cursor.is_forward else row >= cursor.frontier
        bright = state in ("done", "current") or ground != ()
        text = "tape--past" if bright else "tape--outside" if state == "outside" else "tape--future"

        def role(name: str, shines: bool = bright) -> Style:
            return self._style(*ground, name if shines else text)

        kind = "tape--leaf" if record.variable is not None else "tape--op"
        drawn, at = rows.lanes.draw(row, columns.lane_limit, ascii=self._ascii)
        drawn = drawn.ljust(columns.lanes)
        plain, lane = self._style(*ground, text), role("tape--lane", past)
        gradient = rows.gradient(cursor, node, columns.gradient)
        cells = [
            (self._glyphs[glyph] + self._glyphs["stop" if node in self.stops else "none"], role("tape--marker", True)),
            (f"{node:>{columns.number}} ", role("tape--number", True)),
            (drawn[:at], lane),
            (drawn[at : at + 1], role(kind)),
            (f"{drawn[at + 1 :]} ", lane),
            (fit(rows.op(record), columns.op, ascii=self._ascii) + " ", role(kind)),
            (fit(rows.name(record), columns.name, ascii=self._ascii) + " ", role("tape--name")),
            (fit(rows.operands(record), columns.operands, ascii=self._ascii) + " ", plain),
            (fit(rows.shape(record), columns.shape, ascii=self._ascii) + " ", plain),
            (fit(rows.value(cursor, node, columns.value), columns.value) + " ", role("tape--value")),
            (fit(gradient, columns.gradient), role("tape--gradient", bool(cursor.arrived(node)))),
        ]
        strip = Strip([Segment(piece, style) for piece, style in cells if piece]).simplify()
        return strip.adjust_cell_length(self.size.width, plain)

    def _ground(self, cursor: StepCursor, node: int, state: State) -> tuple[tuple[str, ...], str]:
        """The row's background, and its marker."""
        if state == "current":
            failed = cursor.step is not None and cursor.step.error is not None
            return (("tape--failed",), "failed") if failed else (("tape--current",), "current")
        if node in self._delivered:
            return ("tape--delivered",), "delivered"
        is_next = cursor.node is None and node == cursor.next_node and not cursor.hides_next
        return (), "next" if is_next else "none"

    def _style(self, *names: str) -> Style:
        style = self._styles.get(names)
        if style is None:
            style = self.rich_style
            for name in names:
                style += self.get_component_rich_style(name, partial=True)
            self._styles[names] = style
        return style


def _changed(old: StepCursor, new: StepCursor) -> set[int] | None:
    """The rows that look different after a move of one moment; None where it may be any row."""
    if abs(old.position - new.position) > 1 or old.is_forward != new.is_forward:
        return None
    low, high = sorted((old.frontier, new.frontier))
    if high - low > REPAINT_ALL:
        return None
    nodes = {old.focus, new.focus, *old.delivered_to, *new.delivered_to}
    for cursor in (old, new):
        nodes.update(cursor.step.made if cursor.step else ())
    rows = {new.timeline.row_of[node] for node in nodes if node is not None and node in new.timeline.row_of}
    return rows | set(range(low, high))
