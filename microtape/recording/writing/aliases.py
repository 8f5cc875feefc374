"""Tensors that share the memory of a leaf, and are used after it was written to, as if they were copies."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from microtape.basics.call_site import CallSite, user_site
from microtape.tape.tensor_state import TensorState, is_leaf, memory_owner, requires_grad

MAKING = ("data", "detach")
"""The operations that give another tensor of the same memory, without a history."""
MOST_USES = 64
"""How many uses of aliases are noted in a segment."""
_EQUATING = {"allclose", "copy", "dist", "eq", "equal", "isclose", "l1_loss", "load_state_dict", "mse_loss", "ne",
             "not_equal", "sub"}  # fmt: skip
_FEW = 256


class AliasUse(NamedTuple):
    """What an `AliasUseRecord` is made of."""

    op: str
    site: CallSite | None
    leaf: Any
    made: CallSite | None
    written: CallSite | None
    is_with_itself: bool


AliasUses: TypeAlias = dict[Any, AliasUse]
"""By where the alias was made, and what uses it where: of the entries of a `state_dict()`, the first one stands."""


def equates(op: str) -> bool:
    """Whether an operation compares two tensors or makes them equal: in vain, if both are the same memory."""
    return op.strip("_") in _EQUATING


def note_use(uses: AliasUses, use: AliasUse) -> None:
    """Add a use, unless there are many."""
    if len(uses) < MOST_USES:
        uses.setdefault((use.made, use.op, use.site, use.is_with_itself), use)


class _Alias:
    """A tensor with the memory of a leaf."""

    def __init__(self, tensor: TensorState, leaf: TensorState) -> None:
        self.tensor, self.leaf, self.made = weakref.ref(tensor), weakref.ref(leaf), user_site()
        self.is_written = False  # whether somebody else has written into the memory since
        self.written: CallSite | None = None  # the first such call


class Aliases:
    """Follows what `detach()`, `.data` and `state_dict()` have given, as long as the program keeps it."""

    def __init__(self) -> None:
        self._known: dict[int, _Alias] = {}  # by id; some are gone
        self._by_owner: dict[int, list[_Alias]] = {}  # the same by the id of the array that owns the memory
        self._enough = _FEW  # if there are more, those that are gone are dropped
        self.uses: AliasUses = {}  # in this segment

    def begin_segment(self) -> AliasUses:
        """The uses of the segment that begins, as they will be noted."""
        self.uses = {}
        return self.uses

    def made(self, source: TensorState, alias: TensorState) -> None:
        """A tensor was made of the memory of `source`."""
        known = self._find(source)
        leaf = known.leaf() if known is not None else source
        if leaf is None or alias is source or not (is_leaf(leaf) and requires_grad(leaf)):
            return
        if len(self._known) >= self._enough:
            self._drop()
        self._add(_Alias(alias, leaf), alias)

    def _add(self, one: _Alias, tensor: TensorState) -> None:
        self._known[id(tensor)] = one
        self._by_owner.setdefault(id(memory_owner(tensor.array)), []).append(one)

    def _drop(self) -> None:
        kept = [(one, tensor) for one in self._known.values() if (tensor := one.tensor()) is not None]
        self._known, self._by_owner = {}, {}
        for one, tensor in kept:
            self._add(one, tensor)
        self._enough = max(_FEW, 2 * len(kept))

    def _find(self, tensor: TensorState) -> _Alias | None:
        found = self._known.get(id(tensor))
        return found if found is not None and found.tensor() is tensor else None

    def writing(self, tensor: TensorState) -> None:
        """The memory of `tensor` is about to be overwritten."""
        for one in self._by_owner.get(id(memory_owner(tensor.array)), ()) if self._by_owner else ():
            alias = one.tensor()
            if alias is tensor:
                one.is_written = False  # who writes through it knows what it is
            elif alias is not None and not one.is_written and np.may_share_memory(alias.array, tensor.array):
                one.is_written, one.written = True, user_site()

    def concern(self, operands: Sequence[Any]) -> bool:
        """Whether a use of these operands may be worth a note; most are not."""
        return bool(self._known) or (len(operands) == 2 and operands[0] is operands[1])

    def used(self, op: str, operands: Sequence[Any]) -> None:
        """An operation was called with these operands."""
        both = [one for one in operands if isinstance(one, TensorState)] if equates(op) else []
        is_with_itself = len(both) == 2 and _are_one(both[0].array, both[1].array)
        if is_with_itself and both[0] is both[1]:
            if is_leaf(both[0]) and requires_grad(both[0]):
                note_use(self.uses, AliasUse(op, user_site(), both[0], None, None, True))
            return
        for one in self._written_ones(operands):
            if (site := user_site()) == one.written:
                one.is_written = False  # by this operation itself, of which we are told before
            elif (leaf := one.leaf()) is not None:
                note_use(self.uses, AliasUse(op, site, leaf, one.made, one.written, is_with_itself))

    def _written_ones(self, operands: Sequence[Any]) -> Iterator[_Alias]:
        for one in operands:
            known = self._find(one) if isinstance(one, TensorState) else None
            if known is not None and known.is_written:
                yield known


def _are_one(a: Any, b: Any) -> bool:
    """Whether two arrays are the same elements of the same memory."""
    return bool((a.shape, a.strides, a.dtype, a.ctypes.data) == (b.shape, b.strides, b.dtype, b.ctypes.data))
