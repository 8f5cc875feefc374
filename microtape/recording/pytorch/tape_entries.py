"""The entries of a tape, and the graph that they are read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch

from microtape.recording.pytorch.node_text import About
from microtape.recording.pytorch.notes import GraphNode, Operation, SeenTensor
from microtape.recording.pytorch.saved import Saved
from microtape.recording.pytorch.tensors import Tensors

NodeEdge = tuple[GraphNode | None, int]


class NodeEntry:
    """A node of the tape, as plain data."""

    __slots__ = (
        "about", "edges", "hooks", "is_dropped", "made_by", "node", "operation", "output_count", "pass_", "saved",
        "scope", "variable",
    )  # fmt: skip

    def __init__(self, node: GraphNode, described: About) -> None:
        self.node, self.about = node, described
        self.edges: Sequence[NodeEdge] = ()
        self.saved: Sequence[Saved] = ()
        self.hooks: tuple[str, ...] = ()
        self.operation: Operation | None = node.operation
        self.is_dropped = False  # whether the program had dropped it: its edges are those of its operation
        self.output_count = 0
        self.variable: int | None = None
        self.pass_: int | None = None
        self.made_by: int | None = None
        self.scope: int | None = None

    @property
    def is_alone(self) -> bool:
        """Whether its operation has made no other node."""
        return self.operation is not None and self.operation.end == self.operation.start + 1


class TensorEntry:
    """A tensor of the tape."""

    __slots__ = ("names", "node", "number", "objects", "output_nr", "seen", "values")

    def __init__(self, number: int, seen: SeenTensor) -> None:
        self.number, self.seen = number, seen
        self.objects = (seen,)
        self.values = seen.values  # which has other ones in the next segment
        self.names: list[str] = []
        self.node: int | None = None
        self.output_nr = 0


class Graph(NamedTuple):
    """The nodes behind the roots of a pass. It holds torch's nodes, so it must not outlive the pass."""

    nodes: dict[GraphNode, Any]
    edges: dict[GraphNode, tuple[NodeEdge, ...]]
    leaves: dict[GraphNode, torch.Tensor]
    keys: dict[int, GraphNode]  # by the id of torch's node

    def copy(self) -> Graph:
        """A graph of its own with the same nodes."""
        return Graph(dict(self.nodes), dict(self.edges), dict(self.leaves), dict(self.keys))


def walk(roots: Iterable[Any], tensors: Tensors, known: Graph | None = None) -> Graph:
    """The graph behind these nodes of torch's. What is in the graph `known` is not walked again, but added."""
    graph = known.copy() if known is not None else Graph({}, {}, {}, {})
    nodes, all_edges, keys = graph.nodes, graph.edges, graph.keys
    waiting: list[tuple[Any, GraphNode]] = []

    def meet(node: Any) -> GraphNode:
        if type(node).__name__ == "AccumulateGrad":
            leaf = node.variable
            found = tensors.see(leaf).accumulated()
            graph.leaves[found] = leaf
        else:
            found = tensors.node(node)
        keys[id(node)] = found
        nodes[found] = node
        waiting.append((node, found))
        return found

    for root in roots:
        if id(root) not in keys:
            meet(root)
    while waiting:
        node, key = waiting.pop()
        edges: list[NodeEdge] = []
        for to, input_nr in node.next_functions:
            edges.append((None, 0) if to is None else (keys.get(id(to)) or meet(to), input_nr))
        all_edges[key] = tuple(edges)
    return graph
