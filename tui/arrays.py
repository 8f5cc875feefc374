"""The arrays that there are to look at about a node: for the array viewer, and as text with every number."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np

from microtape.recording.model import Summary, Value
from microtape.recording.words import format_shape, format_value
from tui.cursor import StepCursor
from tui.spans import shown

SUMMARY_NOTE = "Only a summary was kept of so large an array; record with --keep {size} to have all of it."


def arrays_of(cursor: StepCursor, node: int) -> list[tuple[str, Value]]:
    """What there is to look at about a node: its value, its gradient, what it kept, what it sent; each with a name."""
    recording, record = cursor.recording, cursor.timeline.node(node)
    found: list[tuple[str, Value | None]] = [("gradient", cursor.gradient(node)), ("value", cursor.value(node))]
    if record.variable is not None:
        found.append((".grad", cursor.leaf(record.variable).grad))
    found += [(f"kept {saved.name}", recording.value(saved.ref)) for saved in record.saved if cursor.exists(node)]
    if node == cursor.node:
        found += [(f"to {recording.label(one.node)}", one.term) for one in cursor.deliveries]
    return [(name, value) for name, value in found if value is not None]


def array_lines(cursor: StepCursor, node: int, *, width: int = 100, ascii: bool = False) -> Iterator[str]:
    """Each of them: what it is, its shape and dtype, then every number with all its digits."""
    for name, value in arrays_of(cursor, node):
        yield shown(f"{name}  {format_shape(value.shape, ascii=ascii)}  {value.dtype}", ascii=ascii)
        if isinstance(value, Summary):
            yield f"  {format_value(value, 200, digits=6, ascii=ascii)}"
            yield f"  {SUMMARY_NOTE.format(size=math.prod(value.shape))}"
        else:
            text = np.array2string(value, max_line_width=width - 2, threshold=sys.maxsize, floatmode="unique")
            yield from (f"  {one}" for one in text.splitlines())
        yield ""
