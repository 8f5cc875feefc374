"""Finds the node or step that was clicked in a text: `%3 mul`, `loss (%16)`, `step 5`."""

from __future__ import annotations

import re

from tui.time.cursor import StepCursor
from tui.time.node_names import names
from tui.widgets.lines.role_styles import STYLES
from tui.widgets.lines.styled_text import StyledLine, plain

NODE = re.compile(r"(?:[^\s(]+ \()?%(\d{1,18})(?:\)| \w+)?")  # `loss (%16)`, `%3 mul`
STEP = re.compile(r"\bstep (\d{1,18})\b")
NAMED = (STYLES["name"], STYLES["leaf"])


def moment_at(cursor: StepCursor, row: StyledLine, column: int) -> int | None:
    """The moment of the node or step that a row of text names at a column; None if it names none."""
    text = plain(row)
    if step := _at(STEP, text, column):
        start, last = len(cursor.timeline.forward), cursor.timeline.last
        return min(start + int(step[1]), last)
    if node := _at(NODE, text, column):
        return cursor.next_of({int(node[1])})
    end = 0
    for segment in row:
        end += len(segment.text)
        if column < end:
            return _of_name(cursor, segment.text.strip()) if segment.style in NAMED else None
    return None


def _at(pattern: re.Pattern[str], text: str, column: int) -> re.Match[str] | None:
    return next((one for one in pattern.finditer(text) if one.start() <= column < one.end()), None)


def _of_name(cursor: StepCursor, name: str) -> int | None:
    timeline = cursor.timeline
    return cursor.next_of({node for node in timeline.rows if name in names(timeline, node)})
