"""What a node looks like, so that it can be found in another recording of the same computation."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from microtape.recording.model.model import NodeRecord, Operand, Recording
from microtape.recording.model.source import expression

Label: TypeAlias = "tuple[object, ...]"
_MODULES = re.compile(r"\b(torch|microtape|mt|np|numpy)\.|\s+")
_ALL = (1 << 61) - 1
ONLY_HERE = "only here"
"""The segment of what was recorded before a pass that is not compared."""


class Fingerprints:
    """The nodes of a recording by their place in the graph and in the program."""

    def __init__(self, recording: Recording, passes: Mapping[int, int]) -> None:
        """Args: the recording; and which of its passes are compared: position -> number of the pair."""
        self.recording = recording
        self._passes = passes

    @cached_property
    def own(self) -> tuple[int, ...]:
        """For each node the node that stands for it: the first AccumulateGrad of its leaf, else itself."""
        first: dict[int, int] = {}
        return tuple(
            node.id if node.variable is None else first.setdefault(node.variable, node.id)
            for node in self.recording.nodes
        )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The name of each node without the number of its overload."""
        known: dict[str, str] = {}
        nodes = self.recording.nodes
        return tuple(known.get(node.name) or known.setdefault(node.name, _kind(node.name)) for node in nodes)

    @cached_property
    def segments(self) -> Sequence[object]:
        """The pass before which each node was recorded: the number of its pair, "after" the last one, or ONLY_HERE."""
        found: list[object] = []
        for position, one in enumerate(self.recording.passes):
            label: object = self._passes.get(position, ONLY_HERE)
            found += [label] * (one.tape - len(found))
        return (found + ["after"] * (len(self.recording.nodes) - len(found)))[: len(self.recording.nodes)]

    @cached_property
    def below(self) -> Sequence[int]:
        """A number for all that a node was computed from, down to the names of the leaves."""
        return self._below(lambda node: self.kinds[node.id])

    @cached_property
    def below_with_constants(self) -> Sequence[int]:
        """The same with the operands that have no history: constants, and the names of tensors."""
        return self._below(lambda node: (self.kinds[node.id], *map(self._constant, node.operands)))

    def _constant(self, operand: Operand) -> str:
        """The name of a tensor without history, or a constant to a few digits; empty for what a node computed."""
        ref, text = operand
        if ref is None:
            return text
        tensor = self.recording.tensors[ref.tensor]
        if tensor.node is not None or tensor.name:  # names of results do no harm, and tell copies apart
            return tensor.name
        value = tensor.values.get(ref.version)
        return f"{value.item():.3g}" if isinstance(value, np.ndarray) and value.size == 1 else ""

    def _below(self, what: Callable[[NodeRecord], object]) -> Sequence[int]:
        found: list[int] = []
        for node in self.recording.nodes:
            if node.variable is not None:
                tensor = self.recording.tensors[node.variable]
                found.append(hash(("leaf", tensor.name, () if tensor.name else tensor.shape)))
            else:
                edges = [(-1 if to is None or to >= node.id else found[to], number) for to, number in node.edges]
                found.append(hash((what(node), *edges)))
        return found

    @cached_property
    def above(self) -> Sequence[int]:
        """A number for all that was computed from a node, up to the roots of the passes that are compared."""
        nodes, kinds = self.recording.nodes, self.kinds
        used = [0] * len(nodes)  # sums, because the order of users is of no importance
        for position, pair in self._passes.items():
            for number, (root, output) in enumerate(self.recording.passes[position].roots):
                if root is not None:
                    used[root] += hash(("root", pair, number, output)) & _ALL
        for node in reversed(nodes):
            found = used[node.id] = hash((kinds[node.id], used[node.id])) & _ALL
            for edge, (to, number) in enumerate(node.edges):
                if to is not None and to < node.id:
                    used[to] += hash((found, edge, number)) & _ALL
        return used

    def is_evaluated(self, node: int) -> bool:
        """Whether some pass evaluates a node; so do all count if there is no pass."""
        return not self.recording.passes or node in self._evaluated

    @cached_property
    def _evaluated(self) -> Collection[int]:
        return {node for one in self.recording.passes for node in one.nodes}

    @cached_property
    def users(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """The nodes that use each node, with the edge that leads to it."""
        found: dict[int, list[tuple[int, int]]] = {}
        for node in self.recording.nodes:
            for edge, (to, _) in enumerate(node.edges):
                if to is not None:
                    found.setdefault(self.own[to], []).append((node.id, edge))
        return found

    def local(self, node: NodeRecord) -> Label:
        """What a node is, and where its edges lead: nowhere, to a leaf, to an operation."""
        if node.variable is not None:
            return ("leaf",)
        nodes = self.recording.nodes
        leads = ("" if to is None else "leaf" if nodes[to].variable is not None else "node" for to, _ in node.edges)
        return (self.kinds[node.id], *leads)

    def text(self, node: NodeRecord) -> Label:
        """What a node is, and the expression that recorded it, without the name of the library."""
        return (self.segments[node.id], self.kinds[node.id], _MODULES.sub("", expression(self.recording, node.place)))

    def shape(self, node: NodeRecord) -> Label:
        """What a node is, and the shapes of its outputs."""
        shapes = (None if ref is None else self.recording.tensors[ref.tensor].shape for ref in node.outputs)
        return (self.segments[node.id], self.kinds[node.id], *shapes)


def _kind(name: str) -> str:
    return name.rstrip("0123456789")
