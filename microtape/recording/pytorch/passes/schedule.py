"""Which nodes run in a pass, and how many gradients each waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from microtape.recording.pytorch.graph import NodeEdge
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.passes.order import ReadyHeap, evaluation_order


class Schedule:
    """The nodes that a pass from `roots` runs; with `inputs`, those from which some path leads to an input.

    `edges` are those of the nodes that the roots lead to, and of no others.
    """

    def __init__(
        self,
        edges: Mapping[GraphNode, Sequence[NodeEdge]],
        roots: Sequence[tuple[GraphNode, int]],
        inputs: Sequence[NodeEdge],
        *,
        captures: bool,
    ) -> None:
        self.edges, self.roots = edges, roots
        self.runs: Collection[GraphNode] = edges.keys()
        if inputs:
            needed = _needed(edges, inputs)
            self.runs = dict.fromkeys([key for key in edges if key in needed])
        self._captured = {key for key, _ in inputs} if captures else set()

    def is_only_captured(self, key: GraphNode) -> bool:
        """Whether `grad()` asks for what arrives at the node, and for nothing behind it: then it does not run."""
        return key in self._captured and not any(to is not None and to in self.runs for to, _ in self.edges[key])

    @cached_property
    def expected(self) -> Mapping[NodeEdge, int]:
        """How many gradients each buffer gets."""
        return Counter([*self.roots, *[edge for key in self.runs for edge in self.edges[key]]])

    def dependencies(self) -> dict[GraphNode, int]:
        """How many gradients will be delivered to each node."""
        left = dict.fromkeys([key for key, _ in self.roots if key in self.runs], 0)
        for key in self.runs:
            for to, _ in self.edges[key]:
                if to is not None and to in self.runs:
                    left[to] = left.get(to, 0) + 1
        return left

    def ready(self, dependencies: Mapping[GraphNode, int]) -> list[GraphNode]:
        """The roots that wait for no other node, in the order in which torch takes them."""
        heap = ReadyHeap()
        roots = [key for key in dict.fromkeys([key for key, _ in self.roots]) if dependencies.get(key) == 0]
        for i, key in enumerate(roots):
            heap.push(i, key.sequence_nr)
        return [roots[heap.pop()] for _ in roots]

    def in_order(self) -> list[GraphNode]:
        """The nodes in the order in which torch runs them."""
        keys = list(self.runs)
        places = {key: i for i, key in enumerate(keys)}
        edges = [[places[to] for to, _ in self.edges[key] if to in places] for key in keys]
        roots = [places[key] for key, _ in self.roots if key in places]
        return [keys[i] for i in evaluation_order(roots, edges, [key.sequence_nr for key in keys])]


def _needed(edges: Mapping[GraphNode, Sequence[NodeEdge]], inputs: Sequence[NodeEdge]) -> set[GraphNode]:
    """The nodes from which some path leads to an input, and the inputs' own."""
    targets = {key for key, _ in inputs if key is not None}
    users: dict[GraphNode, list[GraphNode]] = {}
    for key, receivers in edges.items():
        for to, _ in receivers:
            if to is not None:
                users.setdefault(to, []).append(key)
    needed, waiting = set(targets), list(targets)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in needed:
                needed.add(user)
                waiting.append(user)
    return needed
