"""The order of the tape, for nodes that were recorded before the recorder watched."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from microtape.tape.node import Node


def in_tape_order(nodes: Sequence[Node]) -> list[Node]:
    """The nodes by sequence number, but each after the nodes that its edges lead to, whatever their numbers.

    The two orders differ only if sequence numbers were set by hand.
    """
    ordered = sorted(nodes, key=lambda node: node.sequence_nr)
    place = {node: i for i, node in enumerate(ordered)}
    if all(place.get(to, -1) < i for i, node in enumerate(ordered) for to in node.next_nodes if to is not None):
        return ordered
    waiting = {node: sum(to in place for to in node.next_nodes) for node in ordered}
    before: dict[Node, list[Node]] = {node: [] for node in ordered}  # node -> the nodes whose edges lead to it
    for node in ordered:
        for to in node.next_nodes:
            if to in before:
                before[to].append(node)
    free = [i for i, node in enumerate(ordered) if not waiting[node]]
    result = []
    while free:
        node = ordered[heappop(free)]
        result.append(node)
        for one in before[node]:
            waiting[one] -= 1
            if not waiting[one]:
                heappush(free, place[one])
    return result
