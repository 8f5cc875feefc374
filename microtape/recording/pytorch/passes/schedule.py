"""Which nodes run in a pass, and how many gradients each waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.passes.order import ReadyHeap, evaluation_order

Edge = tuple[GraphNode | None, int]  # the receiver of a gradient, and which of its inputs


class Schedule:
    """The nodes that a pass from `roots` runs; with `inputs`, those from which some path leads to an input."""

    def __init__(
        self,
        edges: Mapping[GraphNode, Sequence[Edge]],
        roots: Sequence[tuple[GraphNode, int]],
        inputs: Sequence[Edge],
        *,
        captures: bool,
    ) -> None:
        needed = _needed(edges, inputs) if inputs else set(edges)
        self.edges = {key: to for key, to in edges.items() if key in needed}
        self.left = dict.fromkeys([key for key, _ in roots if key in needed], 0)  # node -> deliveries yet to come
        self.expected: dict[tuple[GraphNode, int], int] = {}  # how many gradients a buffer gets
        for receivers in self.edges.values():
            for to, nr in receivers:
                if to is not None and to in needed:
                    self.left[to] = self.left.get(to, 0) + 1
                    self.expected[to, nr] = self.expected.get((to, nr), 0) + 1
        for edge in roots:
            self.expected[edge] = self.expected.get(edge, 0) + 1
        self._roots = roots
        self._captured = {key for key, _ in inputs} if captures else set()

    def is_only_captured(self, key: GraphNode) -> bool:
        """Whether `grad()` asks for what arrives at the node, and for nothing behind it: then it does not run."""
        return key in self._captured and not any(to is not None and to in self.left for to, _ in self.edges[key])

    def ready(self) -> list[GraphNode]:
        """The roots that wait for no other node, in the order in which torch takes them. To be called at the start."""
        heap = ReadyHeap()
        roots = [key for key in dict.fromkeys([key for key, _ in self._roots]) if self.left.get(key) == 0]
        for i, key in enumerate(roots):
            heap.push(i, key.sequence_nr)
        return [roots[heap.pop()] for _ in roots]

    def in_order(self) -> list[GraphNode]:
        """The nodes in the order in which torch runs them."""
        keys = list(self.left)
        places = {key: i for i, key in enumerate(keys)}
        edges = [[places[to] for to, _ in self.edges[key] if to in places] for key in keys]
        roots = [places[key] for key, _ in self._roots if key in places]
        return [keys[i] for i in evaluation_order(roots, edges, [key.sequence_nr for key in keys])]


def _needed(edges: Mapping[GraphNode, Sequence[Edge]], inputs: Sequence[Edge]) -> set[GraphNode]:
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
