"""Rows of the tape that stand for no node: writes in place, outputs without a gradient, cuts of the history."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np

from microtape.recording.model.model import BorderRecord, Pass, TensorRef
from microtape.recording.model.undifferentiable import undifferentiable_outputs
from microtape.recording.model.versions import Write
from microtape.recording.tables.fields import are, inside, picked
from tui.time.timeline import Timeline

FEW = 3  # updates of parameters in a row that are listed one by one


@dataclass(frozen=True, slots=True)
class CutRow:
    """A border that cuts a leaf off, between the operations where it happened."""

    border: BorderRecord


@dataclass(frozen=True, slots=True)
class WriteRow:
    """A write in place, below the node that wrote or, without a node, where it happened; or many such writes."""

    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class EndRow:
    """An output that no gradient reaches: of the node above, or of an operation off the tape. A path ends here."""

    ref: TensorRef
    node: int | None
    border: BorderRecord | None

    def comes_from(self, timeline: Timeline) -> tuple[tuple[int, int], ...]:
        """The values from which the path comes: nodes, each with its output."""
        if self.border is None:
            record = timeline.node(self.node or 0)
            return ((record.id, record.outputs.index(self.ref)),)
        refs = (operand.ref for operand in self.border.operands if operand.ref is not None)
        return tuple(made for ref in refs if (made := timeline.made_by(ref)) is not None)


EventRow: TypeAlias = CutRow | WriteRow | EndRow


def event_rows(timeline: Timeline, cuts: Sequence[BorderRecord] = ()) -> Mapping[int, Sequence[EventRow]]:
    """The rows of events, by the row of the whole tape before which they stand; `cuts` are the borders of findings."""
    found: dict[int, list[EventRow]] = {}
    versions, named = timeline.versions, timeline.recording.tensors
    for node, writes in versions.by_node.items():
        if (row := timeline.row_of.get(node)) is not None:
            found.setdefault(row + 1, []).append(WriteRow(writes))
    records = picked(timeline.recording.nodes, timeline.rows)
    outputs, _ = inside(records, "outputs")
    for row in np.flatnonzero((outputs > 1) | are(records, "kind", "function")).tolist():
        record = records[row]
        ends = [ref for _, ref, _ in undifferentiable_outputs(timeline.recording, record) if named[ref.tensor].name]
        found.setdefault(row + 1, []).extend(EndRow(ref, record.id, None) for ref in ends)
    for row, borders in groupby(_borders(timeline), key=lambda one: bisect_left(timeline.rows, one[1].tape)):
        found.setdefault(row, []).extend(_of_borders(borders, cuts, versions.by_border))
    return {row: events for row, events in found.items() if events}


def _of_borders(
    borders: Iterator[tuple[int, BorderRecord]], cuts: Sequence[BorderRecord], writes: Mapping[int, Write]
) -> Iterator[EventRow]:
    """The rows of borders at the same place of the tape."""
    for is_write, group in groupby(borders, key=lambda one: one[0] in writes and one[1] not in cuts):
        found = list(group)
        if is_write:
            for _, by_one_op in groupby((writes[i] for i, _ in found), key=lambda one: one.op):
                every = tuple(by_one_op)
                yield from (WriteRow((one,)) for one in every) if len(every) <= FEW else (WriteRow(every),)
            continue
        for _, border in found:
            if border in cuts:
                yield CutRow(border)
            elif border.kind == "not differentiable":
                yield from (EndRow(ref, None, border) for ref in border.outputs[:1])


def _borders(timeline: Timeline) -> Iterator[tuple[int, BorderRecord]]:
    """The borders between the end of the previous pass and the call of this one, with their numbers."""
    recording, pass_ = timeline.recording, timeline.pass_
    if pass_ is None:
        yield from enumerate(recording.borders)
        return
    before = recording.passes[timeline.pass_index - 1] if timeline.pass_index else None
    updated = {(one.tensor, one.passes) for one in recording.updates}

    def follows(border: BorderRecord, one: Pass) -> bool:
        """Whether a border comes after a pass. An update right before it and one right after see the same tape."""
        owner = timeline.versions.owner(border.outputs[0].tensor) if border.outputs else None
        return border.tape > one.tape or (
            border.tape == one.tape and border.in_place and (owner, one.index + 1) in updated
        )

    for i, border in enumerate(recording.borders):
        if (before is None or follows(border, before)) and border.tape <= pass_.tape and not follows(border, pass_):
            yield i, border
