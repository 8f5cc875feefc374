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

    A line is written `:7`, a shape `24×3`, `24x3` or `(24, 3)`; any other text may occur in an operation, a name or the
    operands, in upper or lower case. If this part of the pass has no match, those of the other part are returned.
    """
    forward, backward = cursor.timeline.moments_of(found_nodes(cursor, text))
    return tuple((forward or backward) if cursor.is_forward else (backward or forward))


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
    is_shape = shape is not None or re.fullmatch(r"\d+(×\d+)+", wanted) is not None
    line = re.fullmatch(r":(\d+)", wanted)

    def found(node: int) -> bool:
        record = timeline.node(node)
        if line:
            place = record.place
            return place is not None and place.line <= int(line[1]) <= place.end_line
        if is_shape:
            return rows.shape(record) == wanted
        # Without the name AccumulateGrad, in which a search for "mul" would find every leaf.
        kind = record.name if record.variable is None else ""
        texts = (rows.op(record), kind, *names(timeline, node))
        return any(wanted in one.casefold() for one in texts) or wanted in rows.operands(record).casefold()

    return frozenset(node for node in timeline.rows if found(node)) if wanted else frozenset()
