"""Which nodes of a recording a picture shows: those of the pass, or the neighbourhood of one node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from microtape.recording.model.model import Recording
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.errors import DrawError, TooLargeError
from viz.basics.options import NODE, as_whole_number

MOST_PER_SIDE = 12  # a neighbourhood follows at most this many uses of a node, and as many of its inputs


@dataclass(frozen=True, slots=True)
class Selection:
    """The nodes to draw."""

    nodes: tuple[int, ...]  # ids in tape order
    hidden: Mapping[int, int]  # node -> how many of its neighbours are not drawn
    middle: int | None  # the node whose neighbourhood this is; None: the whole pass
    notes: tuple[str, ...]  # for the heading


def select_nodes(now: Moment, around: int | str | None, radius: int, max_boxes: int) -> Selection:
    """The whole pass if `around` is None, else the nodes at most `radius` edges from that node.

    Raises:
        DrawError: `around` names no node of this pass, `radius` is negative, or there is nothing to draw.
        TooLargeError: the neighbourhood has more than `max_boxes` nodes.
    """
    every = tuple(node for node in now.timeline.nodes if now.is_there(node))
    if not every:
        raise DrawError("nothing to draw: no operation was recorded (does an input have requires_grad=True?)")
    if around is None:
        return Selection(every, {}, None, ())
    if radius < 0:
        raise DrawError(f"radius={radius} is negative: it counts the edges from the node in the middle")
    middle = _find(now.recording, around, every)
    near, hidden = _neighbourhood(now.recording, middle, radius, every)
    if len(near) > max_boxes:
        raise TooLargeError(
            f"{len(near)} nodes are within radius={radius} of %{middle}, more than max_boxes={max_boxes}: "
            "take a smaller radius, or raise max_boxes="
        )
    note = f"{len(near)} of {len(every)} nodes: those within {radius} of %{middle}"
    return Selection(near, hidden, middle, (note,) if len(near) < len(every) else ())


def some_root(now: Moment, every: Sequence[int]) -> str:
    """The name of a node from which backward starts."""
    roots = [root.node for root in now.pass_.roots if root.node is not None] if now.pass_ else []
    return visible(now.recording.label(roots[0] if roots else every[-1]), 20)


def _find(recording: Recording, around: int | str, every: tuple[int, ...]) -> int:
    """The node of that id; or the last one whose output has that name, that is that operation, or is at `:line`."""
    if isinstance(around, str) and around.startswith("%") and around[1:].isdecimal():
        around = int(around[1:])
    if not isinstance(around, str):
        around = as_whole_number("around", around, NODE)
        if around in every:
            return around
        raise DrawError(f"there is no node %{around} here: this pass has nodes %{every[0]} to %{every[-1]}")
    for is_meant in (
        lambda node: around in _names(recording, node),
        lambda node: around == recording.nodes[node].op,
        lambda node: (place := recording.nodes[node].place) is not None and around in (f":{place.line}", place.at),
    ):
        if named := list(filter(is_meant, every)):
            return named[-1]
    known = dict.fromkeys(name for node in reversed(every) for name in _names(recording, node)[:1])
    some = ", ".join(visible(name, 20) for name in list(known)[:8])
    nodes = (recording.nodes[node] for node in reversed(every))
    ops = ", ".join(list(dict.fromkeys(one.op for one in nodes if one.variable is None))[:4])
    raise DrawError(
        f'nothing here is called {visible(around, 40)!r}: take an id as in around="%{every[-1]}", one of {some}, '
        f"an operation such as {ops}, or a line as in :7"
    )


def _names(recording: Recording, node_id: int) -> tuple[str, ...]:
    node = recording.nodes[node_id]
    tensors = [node.variable] if node.variable is not None else [ref.tensor for ref in node.outputs if ref is not None]
    return tuple(name for tensor in tensors for name in recording.tensors[tensor].names)


def _neighbourhood(
    recording: Recording, middle: int, radius: int, every: tuple[int, ...]
) -> tuple[tuple[int, ...], dict[int, int]]:
    """The nodes within the radius, and the number of hidden neighbours of each. A leaf's other users are not near."""
    allowed = set(every)
    uses: dict[int, list[int]] = {}
    for node in every:
        for target in dict.fromkeys(_inputs(recording, node, allowed)):
            uses.setdefault(target, []).append(node)
    found, frontier = {middle}, [middle]
    for _ in range(radius):
        beyond: list[int] = []
        for node in frontier:
            around = _nearest(_inputs(recording, node, allowed), node)
            if node == middle or recording.nodes[node].variable is None:
                around += _nearest(uses.get(node, ()), node)
            beyond += [one for one in dict.fromkeys(around) if one not in found]
            found.update(around)
        frontier = beyond
    hidden = {}
    for node in found:
        missing = {*_inputs(recording, node, allowed), *uses.get(node, ())} - found
        if missing:
            hidden[node] = len(missing)
    return tuple(sorted(found)), hidden


def _inputs(recording: Recording, node: int, allowed: set[int]) -> list[int]:
    return [edge.node for edge in recording.nodes[node].edges if edge.node is not None and edge.node in allowed]


def _nearest(nodes: Iterable[int], to: int) -> list[int]:
    """The few nodes closest on the tape, so that a node with many neighbours does not draw in the whole graph."""
    return sorted(dict.fromkeys(nodes), key=lambda node: (abs(node - to), node))[:MOST_PER_SIDE]
