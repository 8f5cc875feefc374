"""The versions of the memory of tensors: who wrote each, who read it, who saved it, and whether the saver lost it.

Note [Memory and its versions]
  A tensor, its views and the tensors detached from it share one memory, and one version counter: a write through any of
  them is a new version of all. Here a memory is named by the tensor that owns it. A write may count more than once: a
  Function whose forward runs `x.add_(1)` and calls `mark_dirty(x)` takes x from version 0 to 2. NB: a write through
  `x.data` or numpy, or by a fused optimiser of PyTorch's, counts as no version. A recording of several passes gives it
  one all the same, as it has two values.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from microtape.recording.model.model import (
    NodeRecord,
    Operand,
    Pass,
    Place,
    Recording,
    SavedUse,
    TensorRef,
    UpdateRecord,
    Value,
)
from microtape.recording.tables.fields import picked, truths

Fate: TypeAlias = Literal["intact", "lost", "unused"]
"""What became of a saved tensor: backward found it as it was saved; it was overwritten before; backward did not ask for
it. Without a pass, or in a pass that failed earlier: what would become of it."""


class Saver(NamedTuple):
    """A node that saved a tensor for backward."""

    node: int
    ref: TensorRef  # the tensor, perhaps a view, and its version
    fate: Fate


class Write(NamedTuple):
    """A write in place. If `before` equals `after`, no value was written: `detach_` took a tensor's history away."""

    op: str
    node: int | None  # the node that wrote, or the border, an index into `Recording.borders`
    border: int | None
    place: Place | None
    tensor: int  # the tensor that was written to: the owner of the memory, a view, or a detached tensor
    before: int  # the versions before and after
    after: int
    tape: int  # how many nodes the tape had before


class Version(NamedTuple):
    """A version of some memory."""

    number: int
    node: int | None  # that computed it, for the first version
    write: Write | None  # that made it; None for the first version, and if it is unknown
    update: UpdateRecord | None  # the writes that made it, if no single one was recorded
    readers: tuple[int, ...]  # the nodes that computed with it; not those that wrote into it or made a view of it
    savers: tuple[Saver, ...]


class Versions:
    """Answers questions about the versions in a recording. The answers are worked out when they are first needed."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def owner(self, tensor: int) -> int:
        """The tensor that owns the memory of a tensor: itself, if it is neither a view nor detached from another."""
        seen = {tensor}  # a damaged file may go around in circles
        while True:
            base = self._recording.tensors[tensor].base
            origin = self._detached_from.get(tensor) if base is None else base
            if origin is None or origin in seen:
                return tensor
            seen.add(tensor := origin)

    def of(self, tensor: int) -> tuple[Version, ...]:
        """The versions of the memory of a tensor, without those that only the inside of a Function has seen."""
        owner = self.owner(tensor)
        writes = {one.after: one for one in self.writes.get(owner, ()) if one.after != one.before}
        inside = {number for one in writes.values() for number in range(one.before + 1, one.after)}
        seen = {number for whose, number in self._seen if whose == owner}
        first = {0} if not seen or min(seen) in writes else set()  # else: nobody knows more of it than that it was
        numbers = {*first, *writes, *seen} - inside
        updates = self._made_by_updates.get(owner, {})
        versions = []
        for number in sorted(numbers):
            write, key = writes.get(number), (owner, number)
            node = None if write is not None else self._computed_by.get(key)
            savers = tuple(self._saver(*one) for one in self._saved.get(key, ()))
            update = updates.get(number) if write is None else None
            versions.append(Version(number, node, write, update, tuple(self._readers.get(key, ())), savers))
        return tuple(versions)

    def value(self, tensor: int, version: int) -> Value | None:
        """The value of a tensor at a version. None if it is unknown."""
        return self._recording.value(TensorRef(tensor, version))

    def change(self, write: Write) -> tuple[Value | None, Value | None]:
        """The value of the memory before and after a write; that of the written view if only this is known."""
        tensors = dict.fromkeys((self.owner(write.tensor), write.tensor))
        found = [(self.value(one, write.before), self.value(one, write.after)) for one in tensors]
        return max(found, key=lambda pair: sum(one is not None for one in pair))

    def overwritten(self, write: Write) -> tuple[Saver, ...]:
        """The nodes that had saved what a write overwrote; for `detach_`, those that had saved the tensor."""
        owner, versions = self.owner(write.tensor), range(write.before, max(write.after, write.before + 1))
        saved = (one for version in versions for one in self._saved.get((owner, version), ()))
        return tuple(self._saver(node, ref) for node, ref in saved if node.id < write.tape)

    def uncounted(self, tensor: int) -> tuple[UpdateRecord, ...]:
        """The updates of a leaf that made no version: through `.data` or numpy, or by a fused optimiser of torch's."""
        owner = self.owner(tensor)
        return tuple(one for one in self._recording.updates if one.tensor == owner and one.is_counted is False)

    def _unplaced(self, owner: int) -> list[UpdateRecord]:
        """The updates of a leaf that no recorded write began."""
        places = {one.place for one in self.writes.get(owner, ()) if one.place is not None}
        return [one for one in self._recording.updates if one.tensor == owner and one.place not in places]

    @cached_property
    def _made_by_updates(self) -> Mapping[int, Mapping[int, UpdateRecord]]:
        """Owner -> version -> the update that made it, perhaps with versions before it that nobody has seen.

        An update says how many passes had begun before it, and so does whatever has seen a version: the update lies
        between what saw the version before and what saw this one.
        """
        versions, updated = dict[int, list[int]](), {one.tensor for one in self._recording.updates}
        for owner, number in sorted(self._seen):
            versions.setdefault(owner, []).append(number)
        return {owner: self._versions_made(owner, versions.get(owner, [])) for owner in updated}

    def _versions_made(self, owner: int, versions: Sequence[int]) -> Mapping[int, UpdateRecord]:
        written = {one.after for one in self.writes.get(owner, ())}
        left, found = self._unplaced(owner), {}
        for before, after in pairwise(versions):
            start, end = self._begun(owner, before, versions), self._begun(owner, after, versions)
            fitting = [one for one in left if start <= one.passes <= end][before - after :]
            if fitting and after not in written:
                found[after] = fitting[-1]
                left = [one for one in left if one not in fitting]
        return found

    def _begun(self, owner: int, version: int, versions: Sequence[int]) -> int:
        """How many passes had begun when something used a version, or, if nothing has, the next one that was used."""
        later = (self._first_use.get((owner, one)) for one in versions if one >= version)
        used = next((one for one in later if one is not None), None)
        tapes = [one.tape for one in self._recording.passes]
        return bisect_right(tapes, used) if used is not None else sys.maxsize

    @cached_property
    def _first_use(self) -> Mapping[tuple[int, int], int]:
        """The first node that read or saved a version."""
        saved = {key: [node.id for node, _ in found] for key, found in self._saved.items()}
        return {key: min(found) for key, found in (*saved.items(), *self._readers.items())}

    @cached_property
    def writes(self) -> Mapping[int, tuple[Write, ...]]:
        """Owner of a memory -> the writes to it, in order."""
        found: dict[int, list[Write]] = {}
        for write in (*self._recorded_writes(), *self._unrecorded_writes()):
            found.setdefault(self.owner(write.tensor), []).append(write)
        return {owner: tuple(sorted(writes, key=lambda one: one.after)) for owner, writes in found.items()}

    @cached_property
    def by_node(self) -> Mapping[int, tuple[Write, ...]]:
        """Node -> its writes; a Function may write into several arguments."""
        found: dict[int, tuple[Write, ...]] = {}
        for one in (write for writes in self.writes.values() for write in writes):
            if one.node is not None:
                found[one.node] = (*found.get(one.node, ()), one)
        return found

    @cached_property
    def by_border(self) -> Mapping[int, Write]:
        """Border, an index into `Recording.borders` -> its write."""
        every = (write for writes in self.writes.values() for write in writes)
        return {one.border: one for one in every if one.border is not None}

    def view_written(self, node: int) -> int | None:
        """The view through which a CopySlices wrote: the tensor whose history was renewed afterwards."""
        nodes = self._recording.nodes
        following = nodes[node + 1] if node + 1 < len(nodes) else None
        if following is None or following.name != "AsStridedBackward0" or not following.operands:
            return None
        made = following.outputs[0] if following.outputs else None
        return made.tensor if made is not None and following.operands[0].ref in nodes[node].outputs else None

    def _recorded_writes(self) -> Iterator[Write]:
        nodes = self._recording.nodes
        for node in picked(nodes, np.flatnonzero(truths(nodes, "in_place")).tolist()):
            old = {self.owner(ref.tensor): ref.version for ref in _tensors(reversed(node.operands))}
            for new in node.outputs:
                before = old.get(self.owner(new.tensor)) if new is not None else None
                if new is not None and before is not None and before < new.version:
                    yield Write(node.op, node.id, None, node.place, new.tensor, before, new.version, node.id)

    def _unrecorded_writes(self) -> Iterator[Write]:
        for i, border in enumerate(self._recording.borders):
            if border.in_place and border.outputs:
                new = border.outputs[0]
                before = new.version if border.kind == "detach" else max(new.version - 1, 0)
                yield Write(border.op, None, i, border.place, new.tensor, before, new.version, border.tape)

    # Whose memory a tensor has, and who used it at which version. The keys are (owner, version).

    @cached_property
    def _detached_from(self) -> Mapping[int, int]:
        """Detached tensor -> the tensor whose memory it has."""
        return {
            border.outputs[0].tensor: origin.tensor
            for border in self._recording.borders
            if border.op == "detach" and border.outputs
            for origin in _tensors(border.operands[:1])
        }

    @cached_property
    def _seen(self) -> frozenset[tuple[int, int]]:
        """The versions that something refers to."""
        known = ((self.owner(one.id), version) for one in self._recording.tensors for version in one.values)
        return frozenset((*known, *self._saved, *self._readers, *self._computed_by))

    @cached_property
    def _computed_by(self) -> Mapping[tuple[int, int], int]:
        """The node that computed a version, without having written into it."""
        return {
            (ref.tensor, ref.version): node.id
            for node in self._recording.nodes
            if not node.in_place
            for ref in node.outputs
            if ref is not None and self.owner(ref.tensor) == ref.tensor
        }

    @cached_property
    def _readers(self) -> Mapping[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for node in self._recording.nodes:
            own = {self.owner(ref.tensor) for ref in node.outputs if ref is not None}
            for key in dict.fromkeys((self.owner(ref.tensor), ref.version) for ref in _tensors(node.operands)):
                if key[0] not in own:
                    found.setdefault(key, []).append(node.id)
        return found

    @cached_property
    def _saved(self) -> Mapping[tuple[int, int], list[tuple[NodeRecord, TensorRef]]]:
        found: dict[tuple[int, int], list[tuple[NodeRecord, TensorRef]]] = {}
        for node in self._recording.nodes:
            for ref in dict.fromkeys(one.ref for one in node.saved):
                found.setdefault((self.owner(ref.tensor), ref.version), []).append((node, ref))
        return found

    # What became of the saved tensors

    def _saver(self, node: NodeRecord, ref: TensorRef) -> Saver:
        return Saver(node.id, ref, self._fate(node.id, ref))

    def _fate(self, node: int, ref: TensorRef) -> Fate:
        uses = [one for one in self._uses.get(node, ()) if one.ref == ref]
        writes = self.writes.get(self.owner(ref.tensor), ())
        if any(one.version_now != ref.version for one in uses):
            return "lost"
        if node in self._refused and any(one.before == one.after == ref.version for one in writes):
            return "lost"
        if uses:
            return "intact"
        passes = [one for one in self._recording.passes if node in self._not_reached.get(one.index, ())]
        if not passes and self._recording.passes:
            return "unused"
        tapes = [one.tape for one in passes] or [len(self._recording.nodes)]
        newest = max((one.after for one in writes if one.tape <= max(tapes)), default=0)
        return "lost" if newest > ref.version else "intact"

    @cached_property
    def _uses(self) -> Mapping[int, tuple[SavedUse, ...]]:
        """Node -> what its steps unpacked."""
        found: dict[int, tuple[SavedUse, ...]] = {}
        for _, step in self._recording.steps():
            if step.saved:
                found[step.node] = (*found.get(step.node, ()), *step.saved)
        return found

    @cached_property
    def _refused(self) -> frozenset[int]:
        """The nodes that failed because a tensor that they had saved was detached in place."""
        steps = (step for _, step in self._recording.steps())
        return frozenset(one.node for one in steps if one.error and one.error.type == "DetachedInPlaceError")

    @cached_property
    def _not_reached(self) -> Mapping[int, frozenset[int]]:
        """Index of a pass that did not run to its end -> the nodes that it should have evaluated."""
        return {
            one.index: frozenset(one.nodes) - {step.node for step in one.steps}
            for one in self._recording.passes
            if not one.is_complete
        }


def used_versions(recording: Recording, one: Pass) -> Mapping[int, int]:
    """Tensor -> the version that the nodes of a pass have used, or saved."""
    nodes = [recording.nodes[node] for node in one.nodes]
    saved = {kept.ref.tensor: kept.ref.version for node in nodes for kept in node.saved}
    return saved | {ref.tensor: ref.version for node in nodes for ref in _tensors(node.operands)}


def _tensors(operands: Iterable[Operand]) -> Iterator[TensorRef]:
    return (one.ref for one in operands if one.ref is not None)
