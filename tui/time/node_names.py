"""The user's names for nodes and modules, and the search for the nodes that a text names."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import PurePath
from typing import TypeAlias

from microtape.recording.model.model import Place
from tui.time.timeline import Timeline

AtLine: TypeAlias = Callable[[Place | None], bool]
"""Whether a place is on a line."""

IN_SEQUENTIAL = re.compile(r"^(\d+) \w+$")  # the scope `2 ReLU`: the number is its part of the path
LINE = re.compile(r"(?:(.*):|line\s+|L)(\d{1,18})")  # `:7`, `mlp.py:7`, `line 7`

MOST = 10_000  # names among which a similar one is looked for


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


def _ending(timeline: Timeline, target: str) -> frozenset[int]:
    """The nodes with a name of which these are the last parts."""
    return frozenset[int]().union(*(nodes for name, nodes in timeline.by_name.items() if name.endswith(f".{target}")))


def _inside(timeline: Timeline, target: str) -> frozenset[int]:
    """The nodes recorded inside of a module or scope: its path, the last parts of its path, or its whole name."""
    paths: list[str] = []
    named: set[int] = set()
    for one in timeline.recording.scopes:  # an outer scope comes before those inside of it
        path = IN_SEQUENTIAL.sub(r"\1", one.name)
        paths.append(path if one.outer is None else f"{paths[one.outer]}.{path}")
        if one.outer in named or target == one.name or f".{paths[-1]}".endswith(f".{target}"):
            named.add(one.id)
    return frozenset(node for node in timeline.rows if timeline.node(node).scope in named)


@lru_cache(1)  # going on to the next of these nodes repeats the search
def nodes_named(timeline: Timeline, text: str) -> frozenset[int]:
    """The nodes that a text names.

    A number (`12`, `%12`), a line (`:7`, `mlp.py:7`), a user's name or its last parts (`model.0.weight`, `0.weight`), a
    module or scope (`encoder.2`), or an operation.
    """
    target = text.strip()
    if number := re.fullmatch(r"%?(\d{1,18})", target):
        node = int(number[1])
        return frozenset({node} if node in timeline.row_of else ())
    nodes = (timeline.node(node) for node in timeline.rows)
    if (line := line_named(target)) is not None:
        return frozenset(one.id for one in nodes if line(one.place))
    if found := timeline.by_name.get(target):
        return found
    if target and (found := _ending(timeline, target) or _inside(timeline, target)):
        return found
    folded = target.casefold()
    return frozenset(one.id for one in nodes if folded and folded in (one.op.casefold(), one.name.casefold()))


def not_here(timeline: Timeline, text: str) -> str:
    """The message for a text that names no node, with the name or operation that it may have meant."""
    ops = (timeline.node(node).op for node in timeline.rows)
    known = {name.casefold(): name for name in (*ops, *timeline.by_name)}
    near = get_close_matches(text.strip().casefold(), known, 1) if len(known) <= MOST else ()
    return f"there is no {text.strip()!r} here" + "".join(f": did you mean {known[one]}?" for one in near)
