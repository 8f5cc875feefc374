"""Looking for a text in the tape: operations, names, operands, shapes, lines."""

from __future__ import annotations

import re
from functools import lru_cache

from microtape.recording.model.words import format_shape
from tui.time.cursor import StepCursor
from tui.time.naming import names
from tui.time.rows import Rows
from tui.time.timeline import Timeline


def matches(cursor: StepCursor, text: str) -> tuple[int, ...]:
    """The moments of the nodes that a text is found in, ascending: of the part of the pass where the cursor is.

    A line is written `:7`, a shape `24×3`, `24x3` or `(24, 3)`; anything else may stand in an operation, in a name or
    among the operands, in capitals or not. Where the part has none, those of the other part are given.
    """
    forward, backward = cursor.timeline.moments_of(found_nodes(cursor, text))
    return tuple((forward or backward) if cursor.is_forward else (backward or forward))


def found_nodes(cursor: StepCursor, text: str) -> frozenset[int]:
    """The nodes of the tape that a text is found in; see `matches`."""
    return _found(cursor.timeline, text)


@lru_cache(1)  # who goes from match to match asks the same again
def _found(timeline: Timeline, text: str) -> frozenset[int]:
    rows = Rows(timeline)
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
        # Everybody who looks for "mul" would find the leaves by their AccumulateGrad.
        kind = record.name if record.variable is None else ""
        texts = (rows.op(record), kind, *names(timeline, node))
        return any(wanted in one.casefold() for one in texts) or wanted in rows.operands(record).casefold()

    return frozenset(node for node in timeline.rows if found(node)) if wanted else frozenset()
