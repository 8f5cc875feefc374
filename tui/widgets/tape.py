"""The main view, the tape: one row per node, in the order of recording, with lanes for live values.

It draws single lines (Textual's line API) and caches them. A step repaints only the rows that it changes, so a step in
a tape of thirty thousand rows is as fast as in a tape of thirty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from microtape.recording.findings import Severity
from microtape.recording.model.model import BorderRecord
from tui.time.column_widths import GAP, HEADINGS, heading
from tui.time.cursor import StepCursor
from tui.time.listing import GroupRow, Listing, PassTape
from tui.time.row_texts import RowCells, fit
from tui.time.timeline import Timeline
from tui.widgets.lines.line_view import LineView
from tui.widgets.tape_rows import RowPainter, TapeState
from tui.words.event_rows import events_width
from viz.planning.fold_tree import Group

HEADER = 1  # the line of headings, or of the filter
MARKER = 2  # columns of the marker
SCROLLBAR, BORDERS = 1, 2
REPAINT_ALL = 300  # rows: if a step changes more, the whole view is repainted


class TapeView(LineView, can_focus=True):
    """The tape of a cursor's pass, with the current row in view."""

    EXPLAINED = (
        "The tape: one row per node, in the order in which your program ran; backward goes up. Each line on the left "
        "is a value, from the operation that computes it down to its last use. Bright rows have run, dim ones have "
        "not. A value is shown once it is computed, a gradient once its first term has arrived: 6 (1/2) means one of "
        "two terms. An array that is too long for its column is shown as its mean ± standard deviation. |g| is the "
        "gradient's size (root mean square) as a bar, on a logarithmic scale over the whole pass: zero has no bar, NaN "
        "and infinity have a sign. "
        "✗, ! and · mark what was found to be wrong; ✂ is where the history of a leaf's value ends. "
        "A row without a number tells of a write in place (version 0 → 1), or of a result without a gradient, ×. "
        "{versions} lists the versions of a tensor. "
        "Click a row to go to its step, or left of it to set a breakpoint, ◆."
    )

    DEFAULT_CSS = """
    TapeView {
        & > .tape--heading { color: $text-muted; text-style: underline; }
        & > .tape--banner { color: $text-warning; text-style: bold reverse; }
        & > .tape--fold { color: $foreground; text-style: bold; }
        & > .tape--past { color: $foreground; }
        & > .tape--future { color: $text-muted; }
        & > .tape--outside { color: $text-disabled; }
        & > .tape--current { background: $accent-muted; text-style: bold; }
        &:ansi > .tape--current { color: $text; }  /* not every colour is readable on this background */
        & > .tape--delivered { background: $primary-muted; }
        & > .tape--failed { background: $error-muted; text-style: bold; }
        & > .tape--marker { color: $text-accent; text-style: bold; }
        & > .tape--culprit { color: $text-error; text-style: bold; }
        & > .tape--number { color: $text-muted; }
        & > .tape--lane { color: $text-primary; }
        & > .tape--op { color: $text-warning; }
        & > .tape--leaf { color: $text-success; }
        & > .tape--name { color: $text-primary; text-style: bold; }
        & > .tape--value { color: $text-secondary; }
        & > .tape--gradient { color: $text-accent; text-style: bold; }
        & > .tape--size { color: $text-accent; }
        & > .tape--alarm { color: $text-error; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "tape--heading", "tape--banner", "tape--fold", "tape--past", "tape--future", "tape--outside", "tape--current",
        "tape--delivered", "tape--failed", "tape--marker", "tape--culprit", "tape--number", "tape--lane", "tape--op",
        "tape--leaf", "tape--name", "tape--value", "tape--gradient", "tape--size", "tape--alarm",
    }  # fmt: skip

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)
    stops: reactive[frozenset[int]] = reactive(frozenset(), repaint=False)  # nodes with a breakpoint

    findings: reactive[Mapping[int, Severity]] = reactive(dict[int, Severity](), repaint=False)  # by culprit
    without_gradient: reactive[Mapping[int, str]] = reactive(dict[int, str](), repaint=False)  # what their rows say

    cuts: reactive[tuple[BorderRecord, ...]] = reactive((), repaint=False)  # where leaves are cut off

    @dataclass
    class Chosen(Message):
        """Posted when a row is clicked."""

        node: int

    class Listed(Message):
        """Posted when the rows of another pass are shown, or when rows were folded or filtered."""

    @dataclass
    class Marked(Message):
        """Posted when the margin of a row, where breakpoints are marked, is clicked."""

        node: int

    def __init__(self, id: str, *, ascii: bool = False) -> None:
        super().__init__(id=id)
        self.border_title = "tape"
        self._ascii = ascii
        self._painter = RowPainter(self._style, ascii=ascii)
        self._tape: PassTape | None = None
        self._known: dict[Timeline, PassTape] = {}  # of recently shown passes
        self._listing: Listing | None = None
        self._folds = False
        self._around: object = None  # the folds that are open because they contain the current node
        self._opened: set[Group] = set()  # the groups that the user opened
        self._only: frozenset[int] | None = None  # the rows that a filter shows; None without a filter
        self._banner = ""
        self._cells: RowCells | None = None
        self._strips: dict[int, Strip] = {}
        self._styles: dict[tuple[str, ...], Style] = {}
        self._delivered: frozenset[int] = frozenset()

    def on_resize(self, event: Resize) -> None:
        """Fit the columns to the new width."""
        self._lay_out()

    def notify_style_update(self) -> None:
        """Clear the caches of styles and lines: colours have changed."""
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    def watch_cursor(self, old: StepCursor | None, new: StepCursor | None) -> None:
        """Repaint the rows that the move has changed, and scroll to the current row."""
        if new is None:
            return
        self._delivered = new.delivered_to
        if old is None or old.timeline is not new.timeline:
            self._known = {one: self._known[one] for one in new.timeline.recent.values() if one in self._known}
            self._tape = self._known.setdefault(new.timeline, PassTape(new.timeline, ascii=self._ascii))
            self._only, self._banner = None, ""
            self._list()
            self.post_message(self.Listed())
            return
        folded = self._tape.folded if self._tape is not None and self._folds and self._only is None else None
        if folded is not None and folded.around(new.focus) != self._around:
            self._list()
            return
        if old.is_forward != new.is_forward:
            self._lay_out()
            return
        changed = self._changed(old, new)
        if changed is None:
            self._strips.clear()
            self.refresh()
        else:
            for row in changed:
                self._strips.pop(row, None)
            self.refresh_rows(changed, above=HEADER)
        self._follow()

    def watch_stops(self) -> None:
        """Repaint: a breakpoint was set or removed, or something was found."""
        self._strips.clear()
        self.refresh()

    watch_findings = watch_without_gradient = watch_stops

    def watch_cuts(self) -> None:
        """List the rows again."""
        self._list()
        self.post_message(self.Listed())

    def render_line(self, y: int) -> Strip:
        """The line of headings, or a row."""
        if y == 0 or self._cells is None or self.cursor is None:
            return self._headings()
        row = y - HEADER + self.scroll_offset.y
        if self._listing is None or row >= len(self._listing.entries):
            return Strip.blank(self.size.width, self._style())
        strip = self._strips.get(row)
        if strip is None:
            state = TapeState(self._listing, self._cells, self.cursor, self._delivered, self.stops, self.findings,
                              self.without_gradient, self.size.width - MARKER - SCROLLBAR)  # fmt: skip
            segments = self._painter.paint(row, state)
            strip = Strip([Segment(text, style) for text, style in segments if text]).simplify()
            strip = self._strips[row] = strip.adjust_cell_length(self.size.width, segments[-1][1])
        return strip

    def on_click(self, event: Click) -> None:
        """Choose the clicked row; open or close a fold."""
        row = event.y - self.gutter.top - HEADER + self.scroll_offset.y
        if self._listing is None or event.y <= self.gutter.top or not 0 <= row < len(self._listing.entries):
            return
        entry = self._listing.entries[row]
        if isinstance(entry, int):
            in_margin = event.x < self.gutter.left + MARKER
            self.post_message(self.Marked(entry) if in_margin else self.Chosen(entry))
        elif isinstance(entry, GroupRow):
            self._opened ^= {entry.group}
            self._list()
            self.post_message(self.Listed())

    def wanted_width(self, width: int) -> int:
        """The width at which the view, with its border, would cut no text, on a screen of `width` columns."""
        if self._tape is None or self._listing is None or self.cursor is None:
            return 0
        columns, lanes = self._tape.rows.wanted(width), self._listing.lanes
        beside = self._tape.rows.columns(columns, lanes)
        events = events_width(self.cursor, self._tape.rows, self._listing.events) + beside.number + beside.lanes + 2
        return max(columns, events) + MARKER + SCROLLBAR + BORDERS

    # The listed rows

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return len(self._listing.entries) if self._listing is not None else 0

    @property
    def folds(self) -> bool:
        """Whether repetitions are folded."""
        return self._folds

    def prepare_folds(self) -> None:
        """Find the repetitions. In a long tape this is slow; it may run in a thread."""
        if self._tape is not None and self.cursor is not None:
            _ = self._tape.folded.listing((), self.cursor.focus).lanes

    def turn_folds(self) -> bool:
        """Fold repetitions, or show every row again. Returns whether there is anything to fold."""
        if self._tape is None:
            return False
        found = self._folds or self._tape.folded.folds
        self._folds = found and not self._folds
        self._opened.clear()
        self._list()
        self.post_message(self.Listed())
        return found

    def open_fold(self) -> bool:
        """Open the closed fold nearest to the current row, first above it; if none is closed, close all folds."""
        if self._listing is None or not self._folds or self.cursor is None or self.cursor.focus is None:
            return False
        here = self._listing.row_of.get(self.cursor.focus, 0)
        closed = [(row > here, abs(row - here), one.group) for row, one in enumerate(self._listing.entries)
                  if isinstance(one, GroupRow) and not one.is_open]  # fmt: skip
        self._opened = {*self._opened, min(closed, key=lambda one: one[:2])[2]} if closed else set()
        self._list()
        self.post_message(self.Listed())
        return True

    def filter(self, nodes: frozenset[int] | None, banner: str = "") -> None:
        """Show only these nodes, with a banner; None shows all nodes again."""
        self._only, self._banner = nodes, banner
        self._list()
        self.post_message(self.Listed())

    @property
    def is_filtered(self) -> bool:
        """Whether rows are hidden by a filter."""
        return self._only is not None

    def _list(self) -> None:
        """Choose the rows to show."""
        tape = self._tape
        if tape is None or self.cursor is None:
            return
        if self._only is not None:
            self._listing = Listing.only(self.cursor.timeline, self._only)
        elif self._folds:
            self._around = tape.folded.around(self.cursor.focus)
            self._listing = tape.folded.listing(self._opened, self.cursor.focus)
        else:
            self._listing = tape.listing(self.cuts)
        self._lay_out()

    def _lay_out(self) -> None:
        if self._tape is None or self._listing is None or not self.size.width:
            return
        rows = self._tape.rows
        forward = self.cursor is not None and self.cursor.is_forward
        columns = rows.columns(self.size.width - MARKER - SCROLLBAR, self._listing.lanes, forward=forward)
        if self._cells is None or self._cells.rows is not rows or self._cells.columns != columns:
            self._cells = RowCells(rows, columns)
        self._strips.clear()
        self.virtual_size = Size(self.size.width, len(self._listing.entries) + HEADER)
        self.refresh()
        self._follow()

    def _follow(self) -> None:
        """Keep the current row in view. Near an edge, scroll by a third of a page, so that few steps scroll."""
        if self.cursor is None or self.cursor.focus is None or self._listing is None:
            return
        row, page = self._listing.row_of.get(self.cursor.focus), self.size.height - HEADER
        if row is None:
            return
        margin = min(2, max(page // 2 - 1, 0))
        top = self.scroll_offset.y
        if row < top + margin:
            self.scroll_to(y=row - 2 * page // 3, animate=False, force=True)
        elif row >= top + page - margin:
            self.scroll_to(y=row - page // 3, animate=False, force=True)

    def _headings(self) -> Strip:
        if self._banner:
            return Strip([Segment(fit(f" {self._banner}", self.size.width), self._style("tape--banner"))])
        style = self._style("tape--heading")
        text = " " * MARKER
        if self._cells is not None:
            columns = zip(HEADINGS, self._cells.columns.widths, strict=True)
            text += (" " * GAP).join(fit(heading(name, width), width) for name, width in columns if width)
        return Strip([Segment(fit(text, self.size.width), style)], self.size.width)

    def _changed(self, old: StepCursor, new: StepCursor) -> set[int] | None:
        """The rows that a move of one moment changes; None if any row may have changed."""
        if self._listing is None or abs(old.position - new.position) > 1 or old.is_forward != new.is_forward:
            return None
        low, high = sorted((old.frontier, new.frontier))
        if high - low > REPAINT_ALL:
            return None
        nodes = {old.focus, new.focus, *old.delivered_to, *new.delivered_to, *new.timeline.rows[low:high]}
        for cursor in (old, new):
            nodes.update(cursor.step.made if cursor.step else ())
        row_of, entries = self._listing.row_of, self._listing.entries
        rows = {row_of[node] for node in nodes if node is not None and node in row_of}
        for row in tuple(rows):  # with the rows of what happened there
            while row + 1 < len(entries) and not isinstance(entries[row + 1], int | GroupRow):
                rows.add(row := row + 1)
        return rows

    def _style(self, *names: str) -> Style:
        style = self._styles.get(names)
        if style is None:
            style = self.rich_style
            for name in (*names, *names[:1]):  # the first style again, so that its background wins
                style += self.get_component_rich_style(name, partial=True)
            self._styles[names] = style
        return style
