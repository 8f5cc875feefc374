"""The same as `writing.aliases`, of a PyTorch program: tensors of a leaf's memory, used after it was written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import torch

from microtape.basics.call_site import CallSite
from microtape.recording.pytorch.calls.call_sites import site_of
from microtape.recording.pytorch.calls.function_kinds import word_of
from microtape.recording.pytorch.notes import Operation, SeenTensor, Write
from microtape.recording.pytorch.tensors import Tensors, storage_of
from microtape.recording.writing.aliases import MAKING, AliasUse, AliasUses, equates, note_use
from microtape.recording.writing.faults import Faults

_NEVER = Write(None, 0)


class Aliases:
    """Notes when the memory of leaves is written to, and which of their aliases are used that were made before."""

    def __init__(self, tensors: Tensors, faults: Faults) -> None:
        self._tensors, self._faults = tensors, faults
        self._written: dict[int, Write] = {}  # the last one, by the storage of aliases
        self._leaves = WeakValueDictionary[int, SeenTensor]()  # by the same storage
        self._by_itself = WeakKeyDictionary[SeenTensor, int]()  # when an alias was itself written to
        self.uses: AliasUses = {}  # in this segment

    def begin_segment(self) -> AliasUses:
        """The uses of the segment that begins, as they will be noted."""
        self.uses = {}
        return self.uses

    def note_made(self, source: SeenTensor) -> None:
        """Note that a tensor was made of the memory of `source`."""
        leaf = _leaf_behind(source)
        if leaf is not None and (storage := storage_of(source.tensor)):
            self._written.setdefault(storage, _NEVER)
            self._leaves[storage] = leaf

    def note_write(self, tensor: Any, storage: int, write: Write) -> None:
        """Note a write into a tensor, and so into its storage."""
        if storage in self._written:
            self._written[storage] = write
            seen = self._tensors.find(tensor)
            if seen is not None and seen.border is not None:
                self._by_itself[seen] = write.moment  # who writes through it knows what it is
            leaf = self._leaves.get(storage)
            if leaf is not None and leaf is not seen and leaf.tensor is not None:
                self._tensors.rewritten(leaf.tensor)

    def note_use(self, function: Any, before: Sequence[tuple[Any, int]], frame: FrameType) -> None:
        """Note a call with these tensors."""
        is_same = len(before) == 2 and before[0][0] is before[1][0]
        if self._written or is_same:
            with self._faults.noting("the use of a tensor that shares the memory of a leaf"):
                self._note_use(word_of(function), before, is_same, frame)

    def _note_use(self, op: str, before: Sequence[tuple[Any, int]], is_same: bool, frame: FrameType) -> None:
        is_with_itself = len(before) == 2 and equates(op) and (is_same or _are_one(before[0][0], before[1][0]))
        if is_same:
            seen = self._tensors.find(before[0][0]) if is_with_itself else None
            if seen is not None and seen.is_leaf and seen.requires_grad:
                note_use(self.uses, AliasUse(op, site_of(frame), seen, None, None, True))
            return
        for leaf, alias, written in self._written_ones(before):
            note_use(self.uses, AliasUse(op, site_of(frame), leaf, alias.site, written, is_with_itself))

    def _written_ones(
        self, before: Sequence[tuple[Any, int]]
    ) -> Iterator[tuple[SeenTensor, Operation, CallSite | None]]:
        for tensor, _ in before:
            seen = self._tensors.find(tensor)
            if seen is None or seen.border is None or seen.border.word not in MAKING:
                continue
            leaf, written = _leaf_behind(seen), self._written.get(storage_of(tensor), _NEVER)
            if leaf is not None and written.moment > max(seen.border.crossing, self._by_itself.get(seen, 0)):
                yield leaf, seen.border, written.site


def _leaf_behind(seen: SeenTensor) -> SeenTensor | None:
    """The leaf whose memory this tensor shares by way of `detach()` or `.data`, or which it is itself."""
    while seen.border is not None and seen.border.word in MAKING:
        seen = seen.border.operands[0][0]
    return seen if seen.border is None and seen.is_leaf and seen.requires_grad else None


def _are_one(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors are the same elements of the same memory."""
    try:
        return bool(a.data_ptr() == b.data_ptr() != 0 and a.shape == b.shape and a.stride() == b.stride())
    except RuntimeError:  # tensors without memory of their own
        return False
