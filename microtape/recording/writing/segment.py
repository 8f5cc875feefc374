"""A segment: a part of a program, recorded on a tape of its own.

Note [Segments]
  To look for something in a loop of thousands of passes, the recorder must forget most of them. It therefore begins a
  new segment after a pass, and a whole segment is forgotten by removing it from `Recorder.segments`. Of a node or a
  tensor that it shares with an earlier segment, a tape notes only what it needs; `joining` recognises the object, so
  that it has one number in the recording, which is the number that it has in the first of the kept segments.
  A recorder also begins one by itself where a leaf gets another value without a new version (`w.data -= ...`): passes
  of one segment have one value for each version of a tensor.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from microtape.recording.checking.finite_differences import GradientChecker
from microtape.recording.model.model import NodeRecord, Pass, Place, TensorRecord
from microtape.recording.model.summary import has_nan
from microtape.recording.writing.aliases import AliasUses
from microtape.recording.writing.calls.call import Calls
from microtape.recording.writing.tape import Tape
from microtape.recording.writing.tape_records import tape_records
from microtape.recording.writing.updates import Updates
from microtape.tape.node import Node

FreedNodes: TypeAlias = "WeakKeyDictionary[Node, tuple[int, Place | None]]"
"""Which pass freed a node: its index and its line."""


class Segment(NamedTuple):
    """What is recorded of a part of the program; all of it grows."""

    tape: Tape
    passes: list[Pass]
    checker: GradientChecker | None
    updates: Updates
    alias_uses: AliasUses
    calls: Calls

    def has_nan(self) -> bool:
        """Whether a NaN is among what is recorded: at once, where to look into the records takes long."""
        values = [value for one in self.tape.tensors for value in one.values.values()]
        terms = [one.term for pass_ in self.passes for step in pass_.steps for one in step.deliveries]
        return any(map(has_nan, values)) or any(map(has_nan, terms))

    def records(self, first: int) -> tuple[tuple[NodeRecord, ...], tuple[TensorRecord, ...]]:
        """The records of its nodes and tensors. `first` is the sequence number from which to count."""
        return tape_records(self.tape, first)
