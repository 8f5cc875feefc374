"""The user's names for nodes, and the search for the nodes that a text names."""

from __future__ import annotations

import re
from pathlib import PurePath

from microtape.recording.model.model import Place
from tui.time.timeline import Timeline

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


def nodes_named(timeline: Timeline, text: str) -> frozenset[int]:
    """The nodes that a text names: a number (`12`, `%12`), a line (`:7`, `mlp.py:7`), a user's name, an operation."""
    target = text.strip()
    if number := re.fullmatch(r"%?(\d{1,18})", target):
        node = int(number[1])
        return frozenset({node} if node in timeline.row_of else ())
    nodes = (timeline.node(node) for node in timeline.rows)
    if line := LINE.fullmatch(target):
        file, at = PurePath(line[1] or ""), int(line[2])
        places = ((one.id, one.place) for one in nodes if one.place is not None)
        return frozenset(node for node, place in places if place.line <= at <= place.end_line and _in_file(place, file))
    if found := timeline.by_name.get(target):
        return found
    folded = target.casefold()
    return frozenset(one.id for one in nodes if folded and folded in (one.op.casefold(), one.name.casefold()))
