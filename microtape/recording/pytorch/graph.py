"""The graph of torch's nodes that a pass begins at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch

from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.tensors import Tensors

NodeEdge = tuple[GraphNode | None, int]
NO_EDGE: NodeEdge = (None, 0)


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
        edges = []
        for to, input_nr in node.next_functions:
            edges.append(NO_EDGE if to is None else (keys.get(id(to)) or meet(to), input_nr))
        all_edges[key] = tuple(edges)
    return graph
