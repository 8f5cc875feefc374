"""What the nodes of a timeline are called, and which of them a text names."""

from __future__ import annotations

import re

from tui.timeline import Timeline


def names(timeline: Timeline, node: int) -> tuple[str, ...]:
    """All the user's names for a node's outputs, or for its leaf."""
    record, tensors = timeline.node(node), timeline.recording.tensors
    if record.variable is not None:
        return tensors[record.variable].names
    return tuple(name for ref in record.outputs if ref is not None for name in tensors[ref.tensor].names)


def named(timeline: Timeline, text: str) -> frozenset[int]:
    """The nodes that a text names: by number (`12`, `%12`), line (`:7`), the user's name, the operation's."""
    target = text.strip()
    if number := re.fullmatch(r"%?(\d{1,18})", target):
        node = int(number[1])
        return frozenset({node} if node in timeline.row_of else ())
    nodes = (timeline.node(node) for node in timeline.rows)
    if line := re.fullmatch(r"(?::|line\s+|L)(\d{1,18})", target):
        at = int(line[1])
        return frozenset(
            one.id for one in nodes if one.place is not None and one.place.line <= at <= one.place.end_line
        )
    if found := timeline.by_name.get(target):
        return found
    folded = target.casefold()
    return frozenset(one.id for one in nodes if folded and folded in (one.op.casefold(), one.name.casefold()))
