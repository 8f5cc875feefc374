"""The texts of the tape's rows that stand for no node."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from microtape.recording.model.formatting import format_value
from microtape.recording.model.undifferentiable import why_border, why_undifferentiable
from tui.shell.spans import Line, Span, line, plain
from tui.time.cursor import StepCursor
from tui.time.event_rows import EndRow, WriteRow
from tui.time.row_texts import RowTexts
from tui.words.versions import write_line

MEASURED = 60  # rows of events
WIDEST = 100  # characters that such a row takes at most
VALUE = 24  # characters of the value at the end of a path


def event_line(cursor: StepCursor, rows: RowTexts, event: WriteRow | EndRow, width: int, value: int) -> Line:
    """What the row of an event says, in about `width` characters; values only once they are there.

    `value` is the width of the column of values: what a node overwrote is said here if there is no room there.
    """
    past = is_past(cursor, event)
    if isinstance(event, WriteRow):
        node = event.writes[0].node
        is_said = node is not None and len(event.writes) == 1 and rows.change(cursor, node, value) != ""
        return write_line(cursor, event.writes, width, values=past and not is_said)
    return _end(cursor, rows, event, width, past=past)


def events_width(cursor: StepCursor, rows: RowTexts, events: Sequence[WriteRow | EndRow]) -> int:
    """The width at which the rows of events are whole, but for values; of a long tape, the first of them."""
    lines = (
        write_line(cursor, one.writes, WIDEST, values=False)
        if isinstance(one, WriteRow)
        else _end(cursor, rows, one, WIDEST, past=False)
        for one in events[:MEASURED]
    )
    return max((len(plain(one)) for one in lines), default=0)


def is_past(cursor: StepCursor, event: WriteRow | EndRow) -> bool:
    """Whether it has happened."""
    if isinstance(event, EndRow):
        node, tape = event.node, event.border.tape if event.border is not None else 0
    else:
        node, tape = event.writes[0].node, event.writes[0].tape
    if node is not None:
        return cursor.exists(node)
    return not cursor.is_forward or bisect_left(cursor.timeline.rows, tape) <= cursor.frontier


def _end(cursor: StepCursor, rows: RowTexts, event: EndRow, width: int, *, past: bool) -> Line:
    """`i = argmax(z)  2  no gradient: an argmax has no derivative`."""
    recording = cursor.recording
    tensor = recording.tensors[event.ref.tensor]
    name = Span(tensor.name, "name")
    if event.border is not None:
        called = f"{event.border.op}({', '.join(map(rows.operand, event.border.operands))})"
        begin, reason = line(name, " = " if tensor.name else "", called), why_border(recording, event.border)
    else:
        node = cursor.timeline.node(event.node or 0)
        output = node.outputs.index(event.ref)
        begin, reason = line(name if tensor.name else f"output {output}"), why_undifferentiable(recording, node, output)
    value = recording.value(event.ref) if past else None
    told = line("  no gradient: ", reason)
    room = width - sum(len(text) for text, _ in (*begin, *told)) - 2
    text = format_value(value, min(room, VALUE)) if value is not None and room >= len("[1, 2]") else ""
    return line(*begin, Span(f"  {text}" if text else "", "value"), *told)
