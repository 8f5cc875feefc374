"""Joins segments into one recording, in which every node and every tensor has one number. See Note [Segments]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from microtape.basics.scope import Scope
from microtape.recording.model.model import (
    BorderRecord,
    CallRecord,
    FiniteDifferences,
    FreedRecord,
    FunctionRecord,
    JacobianCheck,
    NodeRecord,
    Pass,
    Recording,
    ScopeRecord,
    TensorRecord,
    UpdateRecord,
    Value,
)
from microtape.recording.writing.renumbering import Renumbering
from microtape.recording.writing.segment import FreedNodes, Segment
from microtape.recording.writing.sources import Sources
from microtape.recording.writing.tape import Tape
from microtape.recording.writing.tape_entries import TensorEntry
from microtape.tape.node import Node


def joined(
    segments: Sequence[Segment], unfinished: Sequence[Pass], freed: FreedNodes, sources: Sources, count: int
) -> Recording:
    """The recording of these segments, the last of which also has unfinished passes. It has no title yet.

    `count` passes have begun so far.
    """
    tapes = [one.tape for one in segments]

    def matters(tensor: int) -> bool:
        return any(tape.knows(tensor) for tape in tapes)

    borders = [tape.border_records(matters) for tape in tapes]  # first, because this may add tensors
    first = min([number for tape in tapes if (number := tape.first_sequence_nr) is not None], default=0)
    parts = []
    for segment, crossed in zip(segments, borders, strict=True):
        nodes, tensors = segment.records(first)
        passes = sorted([*segment.passes, *(unfinished if segment is segments[-1] else ())], key=lambda one: one.index)
        checker = segment.checker
        checks, jacobians = (checker.found, checker.jacobians) if checker is not None else ((), ())
        updates = segment.updates.records(segment.tape.number_of, sources, count)
        functions, calls = segment.calls.functions, segment.calls.records()
        parts.append(_Part(segment.tape, nodes, tensors, passes, crossed, checks, jacobians, updates, functions, calls))
    whole = _Joined(freed)
    if len(parts) == 1:
        whole.take(parts[0])
    for part in parts if len(parts) > 1 else ():
        whole.add(part)
    return whole.recording()


class _Part(NamedTuple):
    """The records of one segment, with its own numbers."""

    tape: Tape
    nodes: Sequence[NodeRecord]
    tensors: Sequence[TensorRecord]
    passes: Sequence[Pass]
    borders: Sequence[BorderRecord]
    checks: Sequence[FiniteDifferences]
    jacobians: Sequence[JacobianCheck]
    updates: Sequence[UpdateRecord]
    functions: Sequence[FunctionRecord]
    calls: Sequence[CallRecord]


class _Joined:
    """The recording so far, and the numbers in it of the objects that were seen."""

    def __init__(self, freed: FreedNodes) -> None:
        self._who_freed = freed
        self._nodes: list[NodeRecord] = []
        self._tensors: list[TensorRecord] = []
        self._passes: list[Pass] = []
        self._scopes: list[ScopeRecord] = []
        self._borders: list[BorderRecord] = []
        self._checks: list[FiniteDifferences] = []
        self._jacobians: list[JacobianCheck] = []
        self._updates: dict[UpdateRecord, None] = {}  # two segments may have seen the same one
        self._functions: list[FunctionRecord] = []
        self._calls: list[CallRecord] = []
        self._freed: list[int] = []
        self._freed_by: dict[int, FreedRecord] = {}
        self._node_numbers: dict[Node, int] = {}
        self._leaf_numbers: dict[int, int] = {}  # tensor -> its AccumulateGrad node
        self._tensor_numbers: dict[int, int] = {}  # by the id of the object, which its tape holds
        self._output_numbers: dict[tuple[int, int], int] = {}  # (node, output) -> tensor
        self._is_kept: list[bool] = []  # by tensor: whether its object is known
        self._scope_numbers: dict[Scope, int] = {}

    def recording(self) -> Recording:
        """The whole recording."""
        return Recording(
            title="", sources={}, nodes=tuple(self._nodes), tensors=tuple(self._tensors), passes=tuple(self._passes),
            scopes=tuple(self._scopes), borders=tuple(self._borders), checks=tuple(self._checks),
            updates=tuple(self._updates), freed=tuple(self._freed), freed_by=tuple(self._freed_by.values()),
            functions=tuple(self._functions), calls=tuple(self._calls), jacobians=tuple(self._jacobians),
        )  # fmt: skip

    def take(self, part: _Part) -> None:
        """Take the only segment, whose numbers stay."""
        self._nodes, self._tensors, self._passes = list(part.nodes), list(part.tensors), list(part.passes)
        self._scopes, self._borders, self._checks = list(part.tape.scopes), list(part.borders), list(part.checks)
        self._updates = dict.fromkeys(part.updates)
        self._functions, self._calls = list(part.functions), list(part.calls)
        self._jacobians = list(part.jacobians)
        self._note_freed(part, range(len(part.nodes)))

    def _note_freed(self, part: _Part, nodes: Sequence[int], known_nodes: int = 0) -> None:
        """Note which nodes were freed before this segment, given their numbers, and by which pass."""
        for number in part.tape.freed:
            who = self._who_freed.get(part.tape.nodes[number].node)
            if who is not None:
                self._freed_by.setdefault(nodes[number], FreedRecord(nodes[number], *who))
            if nodes[number] >= known_nodes:
                self._freed.append(nodes[number])

    def add(self, part: _Part) -> None:
        """Add the next segment."""
        known_nodes, known_tensors = len(self._nodes), len(self._tensors)
        tensors = self._known_tensors(part)
        nodes = self._number_nodes(part, tensors)
        self._number_tensors(part, nodes, tensors)
        numbers = [one for one in tensors if one is not None]
        shifts = self._shifts(part, numbers, known_tensors)
        starts = [known_nodes, *(known_nodes + n for n in accumulate(n >= known_nodes for n in nodes))]
        new = Renumbering(nodes, numbers, self._number_scopes(part.tape), len(self._calls), shifts, starts)

        self._nodes += [new.node(one) for one, number in zip(part.nodes, nodes, strict=True) if number >= known_nodes]
        for record in map(new.tensor, part.tensors):
            if record.id < known_tensors:
                self._tensors[record.id] = _merged(self._tensors[record.id], record)
            else:
                self._tensors.append(record)
        self._passes += map(new.one_pass, part.passes)
        self._borders += map(new.border, part.borders)
        self._functions += [new.function(one) for one in part.functions if nodes[one.node] >= known_nodes]
        self._calls += map(new.call, part.calls)
        self._checks += [one._replace(node=nodes[one.node]) for one in part.checks]
        self._jacobians += [one._replace(node=nodes[one.node]) for one in part.jacobians]
        self._updates |= dict.fromkeys([one._replace(tensor=numbers[one.tensor]) for one in part.updates])
        self._note_freed(part, nodes, known_nodes)

    # Numbers

    def _known_tensors(self, part: _Part) -> list[int | None]:
        """The numbers of the tensors whose objects an earlier segment has seen."""
        return [
            next((self._tensor_numbers[id(one)] for one in entry.objects if id(one) in self._tensor_numbers), None)
            for entry in part.tape.tensors
        ]

    def _number_nodes(self, part: _Part, tensors: Sequence[int | None]) -> list[int]:
        """The number of each node. A leaf has one AccumulateGrad node, although the engine may make several."""
        numbers, following = [], len(self._nodes)
        for entry in part.tape.nodes:
            leaf = tensors[entry.variable] if entry.variable is not None else None
            known = self._node_numbers.get(entry.node) if leaf is None else self._leaf_numbers.get(leaf)
            number = following if known is None else known
            following += known is None
            self._node_numbers[entry.node] = number
            numbers.append(number)
        return numbers

    def _number_tensors(self, part: _Part, nodes: Sequence[int], tensors: list[int | None]) -> None:
        """Number the tensors that no earlier segment has seen, also not as an output that the program did not keep."""
        known = len(self._is_kept)
        for i, entry in enumerate(part.tape.tensors):
            if tensors[i] is None:
                tensors[i] = self._known_output(entry, nodes, known)
            number = tensors[i]
            if number is None:
                number = tensors[i] = len(self._is_kept)
                self._is_kept.append(False)
                if entry.node is not None and part.tape.nodes[entry.node].variable is None:
                    self._output_numbers.setdefault((nodes[entry.node], entry.output_nr), number)
            self._is_kept[number] |= bool(entry.objects)
            self._tensor_numbers.update((id(one), number) for one in entry.objects)
        for i, node in enumerate(part.tape.nodes):
            if node.variable is not None:
                leaf = tensors[node.variable]
                assert leaf is not None
                self._leaf_numbers[leaf] = nodes[i]

    def _known_output(self, entry: TensorEntry, nodes: Sequence[int], known: int) -> int | None:
        """The number of the same output in an earlier segment, unless that is another object."""
        if entry.node is None:
            return None
        number = self._output_numbers.get((nodes[entry.node], entry.output_nr))
        if number is None or number >= known or (self._is_kept[number] and entry.objects):
            return None
        return number

    def _number_scopes(self, tape: Tape) -> list[int]:
        numbers: list[int] = []
        for record, scope in zip(tape.scopes, tape.scope_objects, strict=True):
            number = self._scope_numbers.get(scope)
            if number is None:
                number = self._scope_numbers[scope] = len(self._scopes)
                outer = None if record.outer is None else numbers[record.outer]
                self._scopes.append(ScopeRecord(number, record.name, outer))
            numbers.append(number)
        return numbers

    def _shifts(self, part: _Part, tensors: Sequence[int], known: int) -> Mapping[int, int]:
        """By tensor, what to add to its versions: `w.data -= ...` overwrites a tensor without making a new version."""
        shifts = {}
        for record, number in zip(part.tensors, tensors, strict=True):
            if number < known and record.values:
                before = self._tensors[number].values
                common = before.keys() & record.values.keys()
                if not all(_same(before[version], record.values[version]) for version in common):
                    shifts[record.id] = max(before) + 1 - min(record.values)
        return shifts


def _merged(before: TensorRecord, now: TensorRecord) -> TensorRecord:
    """A tensor of which a later segment knows more: its names and values, and all else as it is now."""
    return now._replace(
        names=tuple(dict.fromkeys((*before.names, *now.names))),
        node=now.node if now.node is not None else before.node,
        base=before.base if before.base is not None else now.base,
        values={**now.values, **before.values},
    )


def _same(a: Value, b: Value) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return a == b
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
