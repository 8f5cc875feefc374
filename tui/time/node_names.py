"""The user's names for nodes, and the search for the nodes that a text names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeAlias

from microtape.recording.model.model import Place
from tui.time.timeline import Timeline

AtLine: TypeAlias = Callable[[Place | None], bool]
"""Whether a place is on a line."""

LINE = re.compile(r"(?:(.*):|line\s+|L)(\d{1,18})")  # `:7`, `mlp.py:7`, `line 7`


def names(timeline: Timeline, node: int) -> tuple[str, ...]:
    """All the user's names for a node's outputs, or for its leaf."""
    record, tensors = timeline.node(node), timeline.recording.tensors
    if record.variable is not None:
        return tensors[record.variable].names
    return tuple(name for ref in record.outputs if ref is not None for name in tensors[ref.tensor].names)


def _in_file(place: Place, file: PurePath) -> bool:
    """Whether the place is in that file, which is given by its path or the last parts of its path."""
    return PurePath(place.file).parts[-len(file.parts) :] == file.parts if file.parts else True


def line_named(text: str) -> AtLine | None:
    """Whether a place is on the line that a text names (`:7`, `mlp.py:7`); None if the text names no line."""
    found = LINE.fullmatch(text.strip())
    if found is None:
        return None
    file, at = PurePath(found[1] or ""), int(found[2])
    return lambda place: place is not None and place.line <= at <= place.end_line and _in_file(place, file)


def nodes_named(timeline: Timeline, text: str) -> frozenset[int]:
    """The nodes that a text names: a number (`12`, `%12`), a line (`:7`, `mlp.py:7`), a user's name, an operation."""
    target = text.strip()
    if number := re.fullmatch(r"%?(\d{1,18})", target):
        node = int(number[1])
        return frozenset({node} if node in timeline.row_of else ())
    nodes = (timeline.node(node) for node in timeline.rows)
    if (line := line_named(target)) is not None:
        return frozenset(one.id for one in nodes if line(one.place))
    if found := timeline.by_name.get(target):
        return found
    folded = target.casefold()
    return frozenset(one.id for one in nodes if folded and folded in (one.op.casefold(), one.name.casefold()))
