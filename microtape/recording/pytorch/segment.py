"""A part of a PyTorch program: what was noted of it, and the records of it. See Note [Segments]."""

from __future__ import annotations

from typing import NamedTuple

from microtape.recording.model.model import NodeRecord, Pass, Place, TensorRecord
from microtape.recording.pytorch.checks.checker import TorchChecker
from microtape.recording.pytorch.inside.calls import TorchCalls
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.passes.pass_notes import PassNotes
from microtape.recording.pytorch.reached import Reached
from microtape.recording.pytorch.reading.settling import any_has_nan
from microtape.recording.pytorch.records import tape_records
from microtape.recording.pytorch.tape import Tape
from microtape.recording.pytorch.updates import Updates
from microtape.recording.writing.aliases import AliasUses


class WhoFreed:
    """Which pass has freed a node: its index and its line."""

    def get(self, node: GraphNode) -> tuple[int, Place | None] | None:
        """None if none has."""
        return node.freed_by


class Recorded(NamedTuple):
    """A segment with all in it numbered, and the records of its passes."""

    tape: Tape
    passes: list[Pass]
    checker: TorchChecker | None
    updates: Updates
    alias_uses: AliasUses
    calls: TorchCalls

    def records(self, first: int) -> tuple[tuple[NodeRecord, ...], tuple[TensorRecord, ...]]:
        """The records of its nodes and tensors. `first` is the sequence number from which to count."""
        return tape_records(self.tape, first)


class Segment(NamedTuple):
    """What is noted of a part of the program; all of it grows."""

    reached: Reached
    tape: Tape
    passes: list[PassNotes]
    checker: TorchChecker | None
    updates: Updates
    alias_uses: AliasUses
    calls: TorchCalls

    def has_nan(self) -> bool:
        """Whether a NaN was noted: at once, where to make the records and to look into them takes long."""
        nodes = self.reached.entries
        outputs = [seen for node in nodes for seen, _ in (*node.outputs.values(), *node.inner.values())]
        values = [value for seen in dict.fromkeys(outputs) for value in seen.values.values()]
        return any_has_nan(values + [term for pass_ in self.passes for step in pass_.steps for term in step.sent])

    def recorded(self, taken: set[GraphNode]) -> Recorded:
        """Number all that was reached, and make the records of the passes.

        `taken` are the nodes of Functions whose calls belong to another segment; those here are added.
        """
        self.tape.number()
        passes = [one.record(self.tape) for one in self.passes]
        self.calls.resolve(self.tape, passes, taken)
        return Recorded(self.tape, passes, self.checker, self.updates, self.alias_uses, self.calls)
