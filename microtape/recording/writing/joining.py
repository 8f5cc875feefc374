"""Joins segments into one recording, in which every node and every tensor has one number. See Note [Segments]."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from microtape.basics.scope import Scope
from microtape.recording.model.growing import GrowingRecording
from microtape.recording.model.model import (
    AliasUseRecord,
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
    Summary,
    TensorRecord,
    UpdateRecord,
    Value,
)
from microtape.recording.model.summary import summarize
from microtape.recording.writing.names.sources import Sources
from microtape.recording.writing.renumbering import Renumbering
from microtape.recording.writing.segment import FreedNodes, Segment
from microtape.recording.writing.tape import Tape
from microtape.recording.writing.tape_entries import TensorEntry
from microtape.tape.node import Node

_ROUNDING = 1e-4  # of the mean of a large array, in parts of its root mean square


def joined(
    segments: Sequence[Segment], unfinished: Sequence[Pass], freed: FreedNodes, sources: Sources, count: int
) -> Recording:
    """The recording of these segments, the last of which also has unfinished passes. It has no title yet.

    `count` passes have begun so far.
    """
    borders = _borders([one.tape for one in segments])  # first, because this may add tensors
    _put_updated(segments, count)
    first = min([number for one in segments if (number := one.tape.first_sequence_nr) is not None], default=0)
    parts = []
    for segment, crossed in zip(segments, borders, strict=True):
        parts.append(_part(segment, unfinished if segment is segments[-1] else (), crossed, first, sources, count))
    numbers, whole = _Joined(freed), GrowingRecording()
    if len(parts) == 1:
        whole.add(numbers.only(parts[0]))
    for part in parts if len(parts) > 1 else ():
        whole.add(numbers.add(part))
    return whole.recording()


def _put_updated(segments: Sequence[Segment], count: int) -> None:
    """Put on the last tape, if no pass has begun there, the leaves of earlier tapes that were updated meanwhile."""
    *earlier, last = segments
    if earlier and not last.passes:
        for one in last.updates.settled(count):
            if any(segment.tape.number_of(one.leaf) is not None for segment in earlier):
                last.tape.put(one.leaf)


_Segment = TypeVar("_Segment")  # a Segment of either recorder


class Additions(Generic[_Segment]):
    """Joins the segments that have ended, each once: what one adds takes time in proportion to its own size.

    NB: `joined` knows all segments, so it finds more: a border matters if any tape has a tensor behind it, and here
    only its own.
    """

    def __init__(self, freed: FreedNodes) -> None:
        self._joined = _Joined(freed)
        self._last: _Segment | None = None
        self._first: int | None = None
        self._sources: set[str] = set()  # that were added

    def new(self, segments: Sequence[_Segment]) -> list[_Segment]:
        """Those of the segments that were not asked for before, in order."""
        new = list(takewhile(lambda one: one is not self._last, reversed(segments)))[::-1]
        self._last = new[-1] if new else self._last
        return new

    def of(self, segment: Any, sources: Sources, count: int) -> Recording:
        """What the next segment adds; it has no title and no notes yet."""
        (crossed,) = _borders([segment.tape])
        if self._first is None:
            self._first = segment.tape.first_sequence_nr
        added = self._joined.add(_part(segment, (), crossed, self._first or 0, sources, count))
        texts = {name: text for name, text in sources.texts().items() if name not in self._sources}
        self._sources.update(texts)
        return dataclasses.replace(added, sources=texts)


def _borders(tapes: Sequence[Tape]) -> list[Sequence[BorderRecord]]:
    """The borders of each tape that led to a tensor on any of them."""
    known = {tensor for tape in tapes for tensor in tape.objects}
    found: list[Sequence[BorderRecord]] = []
    for tape in tapes:

        def matters(tensor: int, tape: Tape = tape) -> bool:
            return tensor in known or tensor in tape.objects

        found.append(tape.border_records(matters))
        known.update(tape.objects)
    return found


def _part(
    segment: Segment,
    unfinished: Sequence[Pass],
    borders: Sequence[BorderRecord],
    first: int,
    sources: Sources,
    count: int,
) -> _Part:
    updates, uses = _updates(segment, sources, count), _alias_uses(segment, sources)
    nodes, tensors = segment.records(first)
    passes = sorted([*segment.passes, *unfinished], key=lambda one: one.index)
    checker = segment.checker
    checks, jacobians = (checker.found, checker.jacobians) if checker is not None else ((), ())
    functions, calls = segment.calls.functions, segment.calls.records()
    return _Part(segment.tape, nodes, tensors, passes, borders, checks, jacobians, updates, uses, functions, calls)


def _updates(segment: Segment, sources: Sources, count: int) -> list[UpdateRecord]:
    """The records of the updates of the leaves on the tape.

    Of an optimiser none of whose parameters a pass has reached, the first is put there: a finding asks for it.
    """
    found, number = segment.updates.settled(count), segment.tape.number_of
    known = {one.site for one in found if number(one.leaf) is not None}
    for one in found:
        if one.site is not None and one.site not in known and not one.is_reached:
            segment.tape.put(one.leaf)
            known.add(one.site)
    records = []
    for one in found:
        if (tensor := number(one.leaf)) is not None:
            place, again = (sources.place(site) if site is not None else None for site in (one.site, one.again))
            records.append(UpdateRecord(tensor, place, one.passes, one.norm, one.change, again, one.is_counted))
    return records


def _alias_uses(segment: Segment, sources: Sources) -> list[AliasUseRecord]:
    """The records of the uses of aliases; their leaves are put on the tape."""
    records = []
    for one in segment.alias_uses.values():
        segment.tape.put(one.leaf)
        place, made, written = (
            sources.place(site) if site is not None else None for site in (one.site, one.made, one.written)
        )
        if (tensor := segment.tape.number_of(one.leaf)) is not None:
            records.append(AliasUseRecord(tensor, one.op, place, made, written, one.is_with_itself))
    return records


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
    alias_uses: Sequence[AliasUseRecord]
    functions: Sequence[FunctionRecord]
    calls: Sequence[CallRecord]


class _Joined:
    """The numbers that the objects which were seen have in the whole recording."""

    def __init__(self, freed: FreedNodes) -> None:
        self._who_freed = freed
        self._node_count = self._call_count = 0
        self._values: list[dict[int, Value]] = []  # by tensor and version
        self._node_numbers: dict[Node, int] = {}
        self._leaf_numbers: dict[int, int] = {}  # tensor -> its AccumulateGrad node
        self._tensor_numbers: dict[int, int] = {}  # by the id of the object, which its tape holds
        self._output_numbers: dict[tuple[int, int], int] = {}  # (node, output) -> tensor
        self._is_kept: list[bool] = []  # by tensor: whether its object is known
        self._scope_numbers: dict[Scope, int] = {}
        self._scopes: list[ScopeRecord] = []

    def only(self, part: _Part) -> Recording:
        """The only segment, whose numbers stay."""
        freed, freed_by = self._freed(part, range(len(part.nodes)))
        return _addition(
                nodes=part.nodes, tensors=part.tensors, passes=part.passes, scopes=part.tape.scopes.records,
                borders=part.borders, checks=part.checks, jacobians=part.jacobians, updates=part.updates, freed=freed,
                freed_by=freed_by, alias_uses=part.alias_uses, functions=part.functions, calls=part.calls,
        )  # fmt: skip

    def add(self, part: _Part) -> Recording:
        """Add the next segment. Returns what it adds."""
        known_nodes, known_tensors = self._node_count, len(self._values)
        tensors = self._known_tensors(part)
        nodes = self._number_nodes(part, tensors)
        self._number_tensors(part, nodes, tensors)
        numbers = [one for one in tensors if one is not None]
        shifts = self._shifts(part, numbers, known_tensors)
        starts = [known_nodes, *(known_nodes + n for n in accumulate(n >= known_nodes for n in nodes))]
        known_scopes = len(self._scopes)
        new = Renumbering(nodes, numbers, self._number_scopes(part.tape), self._call_count, shifts, starts)
        freed, freed_by = self._freed(part, nodes, known_nodes)
        added = _addition(
            nodes=[new.node(one) for one, number in zip(part.nodes, nodes, strict=True) if number >= known_nodes],
            tensors=map(new.tensor, self._without_guesses(part, numbers, known_tensors, nodes, known_nodes)),
            passes=map(new.one_pass, part.passes),
            scopes=self._scopes[known_scopes:],
            borders=map(new.border, part.borders),
            checks=[one._replace(node=nodes[one.node]) for one in part.checks],
            jacobians=[one._replace(node=nodes[one.node]) for one in part.jacobians],
            updates=[one._replace(tensor=numbers[one.tensor]) for one in part.updates],
            alias_uses=[one._replace(tensor=numbers[one.tensor]) for one in part.alias_uses],
            freed=freed,
            freed_by=freed_by,
            functions=[new.function(one) for one in part.functions if nodes[one.node] >= known_nodes],
            calls=map(new.call, part.calls),
        )
        self._node_count += len(added.nodes)
        self._call_count += len(added.calls)
        for tensor in added.tensors:
            if tensor.id == len(self._values):
                self._values.append({})
            for version, value in tensor.values.items():
                self._values[tensor.id].setdefault(version, value)
        return added

    def _without_guesses(
        self, part: _Part, tensors: Sequence[int], known: int, nodes: Sequence[int], known_nodes: int
    ) -> Iterator[TensorRecord]:
        """The tensors; those of an earlier segment are named by nothing but the variables that hold them.

        The target of an assignment is guessed from all operations of its line, of which this segment may reach few.
        """
        for record, entry, number in zip(part.tensors, part.tape.tensors, tensors, strict=True):
            is_new = number >= known or (entry.node is not None and nodes[entry.node] >= known_nodes)
            yield record if is_new else record._replace(names=tuple(entry.names))

    def _freed(
        self, part: _Part, nodes: Sequence[int], known_nodes: int = 0
    ) -> tuple[Sequence[int], Sequence[FreedRecord]]:
        """Which nodes were freed before this segment, given their numbers, and by which pass."""
        freed, freed_by = [], []
        for number in part.tape.freed:
            who = self._who_freed.get(part.tape.nodes[number].node)
            if who is not None:
                freed_by.append(FreedRecord(nodes[number], *who))
            if nodes[number] >= known_nodes:
                freed.append(nodes[number])
        return freed, freed_by

    # Numbers

    def _known_tensors(self, part: _Part) -> list[int | None]:
        """The numbers of the tensors whose objects an earlier segment has seen."""
        return [
            next((self._tensor_numbers[id(one)] for one in entry.objects if id(one) in self._tensor_numbers), None)
            for entry in part.tape.tensors
        ]

    def _number_nodes(self, part: _Part, tensors: Sequence[int | None]) -> list[int]:
        """The number of each node. A leaf has one AccumulateGrad node, although the engine may make several."""
        numbers, following = [], self._node_count
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
        for record, scope in zip(tape.scopes.records, tape.scopes.objects, strict=True):
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
                before = self._values[number]
                common = before.keys() & record.values.keys()
                if not all(_same(before[version], record.values[version]) for version in common):
                    shifts[record.id] = max(before) + 1 - min(record.values)
        return shifts


def _addition(**records: Iterable[Any]) -> Recording:
    return Recording(title="", sources={}, **{name: tuple(some) for name, some in records.items()})  # type: ignore[arg-type]


def _same(a: Value | None, b: Value | None) -> bool:
    """Whether two values are the same, as far as is known: a large one, or one over the budget, is a summary."""
    a, b = _made(a), _made(b)
    if a is None or b is None:
        return a is b
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return _same_statistics(_summary(a), _summary(b))


def _made(value: Any) -> Value | None:
    """A value, which may be pending: PyTorch's recorder makes large ones when they are asked for."""
    made: Value | None = value if value is None or isinstance(value, np.ndarray | Summary) else value.value
    return made


def _summary(value: Value) -> Summary:
    return summarize(value, pictures=False) if isinstance(value, np.ndarray) else value


def _same_statistics(a: Summary, b: Summary) -> bool:
    """Whether two summaries can be of the same numbers: their means may have been rounded differently."""
    same = "shape", "min", "max", "zeros", "nans", "infs", "negative_infs"
    if any(getattr(a, name) != getattr(b, name) for name in same):
        return False
    if a.mean is None or b.mean is None or a.std is None:
        return a.mean == b.mean
    return abs(a.mean - b.mean) <= _ROUNDING * math.hypot(a.mean, a.std)
