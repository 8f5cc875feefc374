"""Writes into tensors: the call that wrote last into a piece of memory, and the writes that made no node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.basics.call_site import CallSite
from microtape.recording.pytorch.notes import Operation, SeenTensor, Write, next_moment, origin_of
from microtape.recording.pytorch.operations.aliases import Aliases
from microtape.recording.pytorch.tensors import Tensors, storage_of, version_of

_MOST_TENSORS = 8192
_MOST_WRITES = 8  # of one tensor: the last ones


class Writes:
    """What was written since the last pass."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self.last: dict[int, Write] = {}  # by storage
        self._without_node: dict[SeenTensor, deque[tuple[int, Operation]]] = {}  # the version after each

    def note(self, tensor: Any, site: CallSite | None) -> None:
        """Note the call that has written into a tensor."""
        if storage := storage_of(tensor):
            write = self.last[storage] = Write(site, next_moment())
            self._aliases.note_write(tensor, storage, write)

    def note_without_node(self, seen: SeenTensor, version: int, operation: Operation) -> None:
        """Note a write that made no node, but a version of a tensor with a history."""
        if len(self._without_node) >= _MOST_TENSORS:  # in a program that never calls backward
            self._without_node.clear()
        self._without_node.setdefault(seen, deque(maxlen=_MOST_WRITES)).append((version, operation))

    def note_step(self, before: Sequence[tuple[Any, int]], site: CallSite | None, tensors: Tensors) -> None:
        """Note what the step of an optimiser has written; `before` are its parameters and their versions then."""
        number = next_sequence_nr()
        for tensor, version in before:
            if version_of(tensor) == version:
                tensors.rewritten(tensor)  # perhaps: `p.data.add_(...)` in an optimiser of the program's own
                continue
            seen, now = tensors.read(tensor)
            operation = Operation(number, number, None, site, [(seen, version)], [origin_of(seen)], ())
            operation.word_, operation.in_place = "step", True
            operation.crosses("no_grad")
            self.note(tensor, site)
            self.note_without_node(seen, now, operation)
        tensors.values.clear()

    def into(self, memory: SeenTensor) -> Iterator[tuple[SeenTensor, int, Operation]]:
        """The writes without a node into the memory of a tensor that is no view: through what, and the version then."""
        for seen, writes in self._without_node.items():
            if (seen.base or seen) is memory:
                for version, operation in writes:
                    yield seen, version, operation

    def forget_those_without_node(self) -> None:
        """A pass has ended."""
        self._without_node.clear()
