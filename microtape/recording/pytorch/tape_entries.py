"""The entries of a tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microtape.recording.model.model import Value
from microtape.recording.pytorch.graph import NodeEdge
from microtape.recording.pytorch.node_text import About
from microtape.recording.pytorch.notes import GraphNode, Operation, SeenTensor
from microtape.recording.pytorch.saved import Saved


class NodeEntry:
    """A node that was reached: what was read while it lived."""

    __slots__ = (
        "about", "described", "dimensions", "edges", "hooks", "is_dropped", "is_freed", "node", "output_count", "saved",
        "scope", "variable",
    )  # fmt: skip

    def __init__(self, node: GraphNode, about: About, edges: Sequence[NodeEdge]) -> None:
        self.node, self.about, self.edges = node, about, edges
        self.saved: Sequence[Saved] = ()
        self.described: Sequence[Any] = ()  # by output: what torch says of its shape and dtype, if the program has none
        self.dimensions: tuple[str, ...] = ()  # see `dimension_texts`; of a node inside of a call
        self.hooks: tuple[str, ...] = ()
        self.is_dropped = False  # whether the program had dropped it: its edges are those of its operation
        self.is_freed = False  # whether a pass had freed what it saved
        self.output_count = 0  # from here on: known when it gets its number
        self.variable: int | None = None
        self.scope: int | None = None

    @property
    def operation(self) -> Operation | None:
        """The operation that made it."""
        return self.node.operation

    @property
    def is_alone(self) -> bool:
        """Whether its operation has made no other node."""
        return self.operation is not None and self.operation.end == self.operation.start + 1


class TensorEntry:
    """A tensor of the tape."""

    __slots__ = ("names", "node", "number", "objects", "output_nr", "seen", "values")

    def __init__(self, number: int, seen: SeenTensor, values: dict[int, Value | None]) -> None:
        self.number, self.seen = number, seen
        self.objects = (seen,)
        self.values = values  # in this segment
        self.names: list[str] = []
        self.node: int | None = None
        self.output_nr = 0
