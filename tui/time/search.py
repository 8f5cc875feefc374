"""Searches the tape for a text, in operations, names, operands, shapes and lines."""

from __future__ import annotations

import re
from functools import lru_cache

from microtape.recording.model.formatting import format_shape
from tui.time.cursor import StepCursor
from tui.time.node_names import names
from tui.time.row_texts import RowTexts
from tui.time.timeline import Timeline


def matches(cursor: StepCursor, text: str) -> tuple[int, ...]:
    """The moments of the nodes that match a text, ascending, in the cursor's part of the pass (forward or backward).

    A line is written `:7`, a shape `(24, 3)`, sizes that follow each other in a shape `24×3` or `24x3`; any other text
    may occur in an operation, a name or the operands, in upper or lower case. A number that occurs in none of them is
    looked for among the sizes. If this part of the pass has no match, those of the other part are returned.
    """
    return tuple(cursor.moments_of(found_nodes(cursor, text)))


def found_nodes(cursor: StepCursor, text: str) -> frozenset[int]:
    """The nodes of the tape that match a text; see `matches`."""
    return _found(cursor.timeline, text)


@lru_cache(1)  # going from match to match repeats the same search
def _found(timeline: Timeline, text: str) -> frozenset[int]:
    rows = RowTexts.of(timeline)
    wanted = re.sub(r"(?<=\d)\s*[x×]\s*(?=\d)", "×", text.strip().casefold())
    shape = re.fullmatch(r"\(([\d\s,]*)\)", wanted)
    if shape:
        wanted = format_shape(tuple(int(size) for size in shape[1].split(",") if size.strip()))
    are_sizes = re.fullmatch(r"\d+(×\d+)+", wanted) is not None
    line = re.fullmatch(r":(\d+)", wanted)

    def has_sizes(node: int) -> bool:
        return f"×{wanted}×" in f"×{rows.shape(timeline.node(node))}×"

    def found(node: int) -> bool:
        record = timeline.node(node)
        if line:
            place = record.place
            return place is not None and place.line <= int(line[1]) <= place.end_line
        if shape:
            return rows.shape(record) == wanted
        if are_sizes:
            return has_sizes(node)
        # Without the name AccumulateGrad, in which a search for "mul" would find every leaf.
        kind = record.name if record.variable is None else ""
        texts = (rows.op(record), kind, *names(timeline, node))
        return any(wanted in one.casefold() for one in texts) or wanted in rows.operands(record).casefold()

    if not wanted:
        return frozenset()
    every = frozenset(filter(found, timeline.rows))
    return every or (frozenset(filter(has_sizes, timeline.rows)) if shape is None and wanted.isdecimal() else every)
