"""Draws the rows of the tape: the row of a node, and the row of a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style

from microtape.recording.findings import Severity
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.model import BorderRecord
from tui.shell.spans import shown
from tui.time.column_widths import GAP
from tui.time.cursor import State, StepCursor
from tui.time.event_rows import CutRow, EndRow, WriteRow
from tui.time.listing import GroupRow, Listing
from tui.time.row_texts import RowCells, fit
from tui.words.event_rows import event_line, is_past
from tui.words.findings import ASCII_SIGNS, SIGNS

GLYPHS = {"current": "▶", "next": "▷", "delivered": "+", "failed": "✗", "stop": "◆", "none": " "}
ROLE_STYLES = {"name": "tape--name", "op": "tape--op", "value": "tape--value", "bad": "tape--alarm"}
ASCII_GLYPHS = {"current": ">", "next": ")", "delivered": "+", "failed": "x", "stop": "B", "none": " "}


class TapeState(NamedTuple):
    """The state that the rows of the tape show."""

    listing: Listing  # the rows
    cells: RowCells  # the texts of the rows
    cursor: StepCursor
    delivered: frozenset[int]  # nodes to which the current step has delivered a gradient
    stops: frozenset[int]  # nodes with a breakpoint
    findings: Mapping[int, Severity]  # the culprits
    without_gradient: Mapping[int, str]  # nodes that get no gradient, with what their rows say
    width: int  # characters of a row, from its number on


class RowPainter:
    """Draws one row at a time, from its marker to its gradient."""

    def __init__(self, style: Callable[..., Style], *, ascii: bool) -> None:
        """`style` combines the styles of component classes of the tape; the first class overrides the others."""
        self._style = style
        self._ascii = ascii
        self._glyphs = ASCII_GLYPHS if ascii else GLYPHS

    def paint(self, row: int, tape: TapeState) -> Sequence[tuple[str, Style]]:
        """The row's texts with their styles."""
        entry = tape.listing.entries[row]
        if isinstance(entry, CutRow):
            return self._cut(row, entry.border, tape)
        if isinstance(entry, WriteRow | EndRow):
            return self._event(row, entry, tape)
        return self._node(row, entry, tape) if isinstance(entry, int) else self._fold(row, entry, tape)

    def _node(self, row: int, node: int, tape: TapeState) -> Sequence[tuple[str, Style]]:
        cursor, columns = tape.cursor, tape.cells.columns
        record, state = cursor.timeline.node(node), cursor.state(node)
        ground, glyph = _ground(tape, node, state)
        at_row = cursor.timeline.row_of[node]
        past = at_row < cursor.frontier if cursor.is_forward else at_row >= cursor.frontier
        bright = state in ("done", "current") or ground != ()
        text = "tape--past" if bright else "tape--outside" if state == "outside" else "tape--future"

        def role(name: str, shines: bool = bright) -> Style:
            return self._style(*ground, name if shines else text)

        kind = "tape--leaf" if record.variable is not None else "tape--op"
        drawn, at = tape.listing.lanes.draw(row, columns.lane_limit, ascii=self._ascii)
        drawn = drawn.ljust(columns.lanes)
        plain, lane = self._style(*ground, text), role("tape--lane", past)
        op, name, operands, shape = tape.cells.texts(node)
        value, gradient = tape.cells.value(cursor, node), tape.cells.gradient(cursor, node)
        arrived = bool(cursor.arrived(node))
        alarm = self._style(*ground, "tape--alarm")
        return [
            *self._margin(glyph, node in tape.stops, tape.findings.get(node), ground),
            (f"{node:>{columns.number}} ", role("tape--number", True)),
            (drawn[:at], lane),
            (drawn[at : at + 1], role(kind)),
            (f"{drawn[at + 1 :]} ", lane),
            (op, role(kind)),
            (name, role("tape--name")),
            (operands, plain),
            (shape, plain),
            (value.text, alarm if value.alarms else role("tape--value")),
            self._gradient(node, tape, ground, text),
            (tape.cells.size(cursor, node), alarm if gradient.alarms else role("tape--size", arrived)),
        ]

    def _margin(
        self, glyph: str, stops: bool, severity: Severity | None, ground: tuple[str, ...]
    ) -> Sequence[tuple[str, Style]]:
        """Two cells: the moment's marker, and a breakpoint; the sign of a finding takes one that is free."""
        style, signs = self._style(*ground, "tape--marker"), ASCII_SIGNS if self._ascii else SIGNS
        cells = [(self._glyphs[glyph], style), (self._glyphs["stop" if stops else "none"], style)]
        free = [at for at, (text, _) in enumerate(cells) if text == self._glyphs["none"]]
        if severity is not None and free and glyph != "failed":
            cells[free[0]] = (signs[severity], self._style(*ground, "tape--culprit"))
        return cells

    def _gradient(self, node: int, tape: TapeState, ground: tuple[str, ...], text: str) -> tuple[str, Style]:
        """The gradient so far; in backward, that a node is cut off."""
        cursor, cells = tape.cursor, tape.cells
        if node in tape.without_gradient and not cursor.is_forward and not cursor.arrived(node):
            says = fit(tape.without_gradient[node], cells.columns.gradient, ascii=self._ascii)
            return says, self._style(*ground, "tape--culprit" if node in tape.findings else text)
        cell, arrived = cells.gradient(cursor, node), bool(cursor.arrived(node))
        return cell.text, self._style(*ground, "tape--alarm" if cell.alarms else "tape--gradient" if arrived else text)

    def _cut(self, row: int, border: BorderRecord, tape: TapeState) -> Sequence[tuple[str, Style]]:
        """The row of a border: what cuts the history off, and its line."""
        columns, rows = tape.cells.columns, tape.cells.rows
        recording = tape.cursor.recording
        output = recording.tensors[border.outputs[0].tensor] if border.outputs else None
        drawn, _ = tape.listing.lanes.draw(row, columns.lane_limit, ascii=self._ascii)
        name = f"{output.name} = " if output is not None and output.name else ""
        called = f"{name}{border.op}({', '.join(map(rows.operand, border.operands))})"
        place = f", {border.place.at}" if border.place is not None else ""
        cells = (
            (called, columns.op + columns.name + columns.operands + 2 * GAP),
            (format_shape(output.shape, ascii=self._ascii) if output is not None else "", columns.shape),
            (f"history ends here{place}", columns.value + columns.gradient + columns.size + 2 * GAP),
        )
        texts = "".join(fit(text, width, ascii=self._ascii) + " " for text, width in cells if width)
        style = self._style("tape--culprit")
        return [
            ("8<" if self._ascii else "✂ ", style),
            (f"{'':{columns.number}} {drawn.ljust(columns.lanes)} ", self._style("tape--lane")),
            (texts, style),
        ]

    def _event(self, row: int, event: WriteRow | EndRow, tape: TapeState) -> Sequence[tuple[str, Style]]:
        """The row of a write in place, or of the end of a path: a sentence across all columns."""
        cursor, columns = tape.cursor, tape.cells.columns
        drawn, _ = tape.listing.lanes.draw(row, columns.lane_limit, ascii=self._ascii)
        text = "tape--past" if is_past(cursor, event) else "tape--future"
        left = tape.width - columns.number - columns.lanes - 2 * GAP
        found = [(" " * (2 + columns.number + 1), self._style(text))]
        found.append((f"{drawn.ljust(columns.lanes)} ", self._style("tape--lane" if text == "tape--past" else text)))
        for words, role in event_line(cursor, tape.cells.rows, event, left, columns.value):
            words = shown(words, ascii=self._ascii)
            words = words if cell_len(words) <= left else fit(words, left, ascii=self._ascii)
            left -= cell_len(words)
            found.append((words, self._style(ROLE_STYLES.get(role, text))))
        return [*found, ("", self._style(text))]

    def _fold(self, row: int, entry: GroupRow, tape: TapeState) -> Sequence[tuple[str, Style]]:
        """The row of a closed fold, or the row above the contents of an open fold."""
        cursor, columns = tape.cursor, tape.cells.columns
        row_of = tape.listing.row_of  # of the nodes that a closed fold hides

        def hides(nodes: Iterable[int | None]) -> bool:
            return any(node is not None and row_of.get(node) == row for node in nodes)

        current, delivered = hides((cursor.node,)), hides(tape.delivered)
        ground = ("tape--current",) if current else ("tape--delivered",) if delivered else ()
        glyph = "current" if current else "delivered" if delivered else "none"
        done = cursor.count_done(tape.listing.tape_rows(row))
        text = self._style(*ground, "tape--past" if done else "tape--future")
        drawn, _ = tape.listing.lanes.draw(row, columns.lane_limit, ascii=self._ascii)
        drawn = drawn.ljust(columns.lanes)
        mark = ("-" if entry.is_open else "+") if self._ascii else ("▾" if entry.is_open else "▸")
        label = f"{'  ' * entry.depth}{mark} {entry.group.title}"
        width = columns.op + columns.name + columns.operands + 2 * GAP
        count = "" if entry.is_open else f"{done} of {len(entry.nodes)} done"
        hidden = [tape.findings[node] for node in tape.findings if row_of.get(node) == row]
        worst = next((one for one in SIGNS if one in hidden), None)
        return [
            *self._margin(glyph, hides(tape.stops), worst, ground),
            (" " * (columns.number + 1) + drawn + " ", self._style(*ground, "tape--lane" if done else "tape--future")),
            (fit(label, width, ascii=self._ascii) + " ", self._style(*ground, "tape--fold")),
            (count, text),
        ]


def _ground(tape: TapeState, node: int, state: State) -> tuple[tuple[str, ...], str]:
    """The row's background and its marker."""
    cursor = tape.cursor
    if state == "current":
        failed = cursor.step is not None and cursor.step.error is not None
        return (("tape--failed",), "failed") if failed else (("tape--current",), "current")
    if node in tape.delivered:
        return ("tape--delivered",), "delivered"
    is_next = cursor.node is None and node == cursor.next_node and not cursor.hides_next
    return (), "next" if is_next else "none"
