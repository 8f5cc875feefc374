"""The nodes and tensors of a part of a PyTorch program, numbered in the order of the tape."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import torch

from microtape.recording.model.model import BorderRecord, Operand, TensorRef, Value
from microtape.recording.pytorch.notes import LEAF, GraphNode, Operation, SeenTensor, Version
from microtape.recording.pytorch.reached import Crossed, Found, Named, Reached
from microtape.recording.pytorch.reading.values import shape_and_dtype
from microtape.recording.pytorch.tape_entries import NodeEntry, TensorEntry
from microtape.recording.pytorch.tensors import Tensors
from microtape.recording.writing.faults import Faults
from microtape.recording.writing.names.scopes import Scopes
from microtape.recording.writing.names.sources import Sources


class Tape:
    """Numbers what passes have reached, in the order of the tape. `number` must be called before it is read."""

    def __init__(self, reached: Reached, sources: Sources, faults: Faults, tensors: Tensors) -> None:
        self.sources, self.faults, self._tensors, self._reached = sources, faults, tensors, reached
        self._lengths: list[int] = []  # how long it was after each entry of the log
        self.nodes: list[NodeEntry] = []
        self.tensors: list[TensorEntry] = []
        self.ids: dict[GraphNode, int] = {}
        self.freed: list[int] = []
        self.scopes = Scopes()
        self._numbers: dict[SeenTensor, TensorEntry] = {}
        self._names_of_others: dict[SeenTensor, list[str]] = {}  # that have no number yet
        self._described: dict[tuple[GraphNode, int], tuple[tuple[int, ...], str]] = {}  # shape and dtype of outputs
        self._borders: dict[Operation, list[Version]] = {}

    def number(self) -> None:
        """Number what was reached since the last call."""
        log = self._reached.log
        while len(self._lengths) < len(log):
            one = log[len(self._lengths)]
            if isinstance(one, Found):
                self._number_nodes({entry.node: entry for entry in one.entries})
            elif isinstance(one, Crossed):
                self._note_border(one.border, one.output)
            else:
                self._name(one)
            self._lengths.append(len(self.nodes))

    def length_at(self, position: int) -> int:
        """How many nodes were numbered at this position of the log."""
        return self._lengths[position - 1] if position else 0

    def is_numbered(self, seen: SeenTensor) -> bool:
        """Whether a tensor has a number, which it gets now if it was reached."""
        self.number()
        return seen in self._numbers

    # Nodes

    def _number_nodes(self, found: Mapping[GraphNode, NodeEntry]) -> None:
        for node in found:
            if (known := self.ids.get(node)) is not None and self.nodes[known].is_dropped:
                self._forget(node, known)
        for node in sorted([one for one in found if one.sequence_nr != LEAF], key=_sequence_nr):
            self._number_with_those_behind(node, found)
        for node in found:
            if node.sequence_nr == LEAF:
                self._number_leaf(node)

    def _forget(self, node: GraphNode, number: int) -> None:
        """Number a node again that was taken for dropped: now its edges are known."""
        self.nodes[number].node = GraphNode(node.name, node.sequence_nr)
        self.nodes[number].node.operation = node.operation
        del self.ids[node]

    def _number_with_those_behind(self, node: GraphNode, found: Mapping[Any, NodeEntry]) -> None:
        """Number a node, but first those that its gradients go to: another thread has sequence numbers of its own."""
        waiting: list[Any] = [node]
        while waiting:
            one = waiting[-1]
            edges = found[one].edges if one not in self.ids else ()
            if before := [to for to, _ in edges if to in found and to not in self.ids and _sequence_nr(to) != LEAF]:
                waiting += before
            else:
                self._number_operation(found[waiting.pop()])

    def _number_operation(self, entry: NodeEntry) -> None:
        node = entry.node
        if node in self.ids:
            return
        for to, _ in entry.edges:
            if to is not None and to.sequence_nr == LEAF and to not in self.ids:
                self._number_leaf(to)
        number = self._put(entry)
        operation = entry.operation
        names = node.inside.saved if node.inside is not None else {}
        if names:
            entry.saved = [
                one._replace(name=names[i]) if (i := _position(one.name)) in names else one for one in entry.saved
            ]
        for one in entry.saved:
            self._entry(one.tensor)
        if entry.is_freed:
            self.freed.append(number)
        self._count_outputs(entry)
        for output_nr, (seen, version) in node.outputs.items():
            tensor = self._entry(seen)
            tensor.node, tensor.output_nr = number, output_nr
            if version > seen.latest:
                seen.latest = version
        if operation is not None:
            for seen, _ in operation.operands:  # so that they can have names
                self._entry(seen)
            if operation.scope is not None:
                entry.scope = self.scopes.number_of(operation.scope)

    def _count_outputs(self, entry: NodeEntry) -> None:
        outputs = entry.node.outputs
        if entry.is_dropped:
            entry.output_count = max(outputs, default=-1) + 1
        elif outputs:
            entry.output_count = max(outputs) + 1 if len(outputs) > 1 or 0 not in outputs else 1
            if entry.operation is not None and entry.operation.outputs > entry.output_count and entry.is_alone:
                entry.output_count = entry.operation.outputs
        else:
            entry.output_count = len(entry.described) or 1
            for output_nr, one in enumerate(entry.described):
                with suppress(Exception):  # a nested tensor has no shape
                    about = shape_and_dtype(SimpleNamespace(shape=one.shape, dtype=one.dtype))
                    self._described[entry.node, output_nr] = about

    def maker_of(self, node: GraphNode) -> tuple[int | None, int | None]:
        """The pass and the node that made a node; None for the program's own forward."""
        found = self._reached.makers.find(node.sequence_nr) if node.sequence_nr != LEAF else None
        if found is None or (number := self.ids.get(found[0])) is None:
            return None, None
        return found[1], number

    def _number_leaf(self, node: GraphNode) -> None:
        if node in self.ids:
            return
        entry = self._reached.entries[node]
        entry.variable = self._entry(node.outputs[0][0]).number
        number = self._put(entry)
        self.tensors[entry.variable].node = number

    def _put(self, entry: NodeEntry) -> int:
        number = self.ids[entry.node] = len(self.nodes)
        self.nodes.append(entry)
        return number

    def _note_border(self, border: Operation, output: Version) -> None:
        outputs = self._borders.setdefault(border, [])
        if output not in outputs:
            outputs.append(output)

    # Tensors

    def _entry(self, seen: SeenTensor) -> TensorEntry:
        entry = self._numbers.get(seen)
        if entry is None:
            values = self._reached.values.get(seen)
            if values is None:  # else a later segment may still have to read what it is now
                seen.keep_earlier()
                values = seen.values
            entry = self._numbers[seen] = TensorEntry(len(self.tensors), seen, values)
            entry.names += self._names_of_others.pop(seen, ())
            self.tensors.append(entry)
            if seen.base is not None:
                self._entry(seen.base)
        return entry

    def ref(self, version: Version) -> TensorRef:
        """A tensor at a version."""
        return TensorRef(self._entry(version[0]).number, version[1])

    def ref_with(self, seen: SeenTensor, version: int, value: Value | None) -> TensorRef:
        """A tensor at a version whose value is known."""
        entry = self._entry(seen)
        if value is not None:
            entry.values.setdefault(version, value)
        return TensorRef(entry.number, version)

    def ref_of(self, tensor: torch.Tensor) -> TensorRef:
        """A tensor as it is now."""
        return self.ref(self._tensors.read(tensor))

    def output(self, node: GraphNode, output_nr: int) -> TensorRef | None:
        """What a node computed, if it is known."""
        known = node.outputs.get(output_nr) or node.inner.get(output_nr)
        if known is None:
            described = self._described.get((node, output_nr))
            if described is None:
                return None
            known = node.note_inner(output_nr, SeenTensor(*described), 0)
            known[0].requires_grad = True
        entry = self._entry(known[0])
        if entry.node is None:
            entry.node, entry.output_nr = self.ids.get(node), output_nr
        return self.ref(known)

    def value_of(self, ref: TensorRef) -> Value | None:
        """The value of a tensor at a version."""
        return self.tensors[ref.tensor].values.get(ref.version)

    def value(self, tensor: torch.Tensor | None) -> Value | None:
        """The value of a gradient, as it is now."""
        found = self._tensors.value(tensor)
        self._tensors.values.clear()
        return found

    def number_of(self, seen: SeenTensor) -> int | None:
        """The tensor's number; None if it is not on the tape."""
        entry = self._numbers.get(seen)
        return entry.number if entry is not None else None

    def put(self, leaf: SeenTensor) -> None:
        """Number a leaf that no pass has reached."""
        self._entry(leaf)

    @property
    def first_sequence_nr(self) -> int | None:
        """The lowest sequence number of its nodes; None without nodes."""
        return min([one.node.sequence_nr for one in self.nodes if one.variable is None], default=None)

    def _name(self, found: Named) -> None:
        name, seen = found
        is_parameter = seen.is_leaf and seen.requires_grad
        if seen in self._numbers or is_parameter or seen.border is not None or seen.node is not None:
            names = self._entry(seen).names
        else:
            names = self._names_of_others.setdefault(seen, [])
        if name not in names:
            names.append(name)

    # Borders

    def border_records(self, matters: Callable[[int], bool]) -> tuple[BorderRecord, ...]:
        """The places where the history of a tensor on the tape ends."""
        return tuple(self._border_records())

    def _border_records(self) -> Iterator[BorderRecord]:
        numbered = sorted([(one.node.sequence_nr, i + 1) for i, one in enumerate(self.nodes)])
        lengths = [0, *accumulate([length for _, length in numbered], max)]
        for one, outputs in sorted(self._borders.items(), key=lambda item: item[0].crossing):
            if not outputs or one.kind is None:
                continue
            yield BorderRecord(
                kind=one.kind,
                op=one.word,
                place=self.sources.place(one.site) if one.site is not None else None,
                operands=(
                    *[Operand(self.ref(operand), "") for operand in one.operands],
                    *[Operand(None, text) for text in one.constants],
                ),
                outputs=tuple(map(self.ref, outputs)),
                in_place=one.in_place,
                tape=lengths[bisect_left(numbered, (one.end, 0))],  # how long it was at that number
            )

    def inside_of_borders(self) -> set[int]:
        """Nodes whose result a border of the same call uses, as in `action = distribution.sample()`."""
        return {
            self.ids[node]
            for border in self._borders
            for node in border.behind
            if isinstance(node, GraphNode) and node in self.ids and border.is_in_call_of(node.operation)
        }

    @property
    def objects(self) -> Collection[int]:
        """None: here a border matters by what is numbered, see `_note_border`."""
        return ()


def _sequence_nr(node: Any) -> int:
    number: int = node.sequence_nr
    return number


def _position(name: str) -> int:
    """The position of a saved tensor of a Function, from `saved_tensors[2]`."""
    return int(name.partition("[")[2].rstrip("]") or 0)
