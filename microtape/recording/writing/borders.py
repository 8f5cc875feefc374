"""Where history ends: tensors that were detached, or computed without being recorded, from tensors with a history.

A *border* is the operation at which that happened. A tensor is *behind* a border if it came out of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from microtape.basics.call_site import CallSite, user_site
from microtape.recording.model.model import BorderKind, BorderRecord, Operand, Place, TensorRef
from microtape.recording.writing.faults import Faults
from microtape.recording.writing.names.sources import Sources
from microtape.tape.grad_mode import mode
from microtape.tape.tensor_state import NUMBER, TensorState, is_leaf, memory_owner, requires_grad, version_number

_DETACHING = ("detach", "detach_", "data")
_FILLING = ("fill", "normal", "uniform", "zero")


class _Version(NamedTuple):
    """A tensor at a version. Holding the tensor keeps its id from being reused."""

    tensor: TensorState
    number: int


class _Border(NamedTuple):
    kind: BorderKind
    op: str
    site: CallSite | None
    operands: tuple[Any, ...]  # a _Version for a tensor, else the constant
    outputs: tuple[_Version, ...]
    in_place: bool
    tape: int


class _Left(NamedTuple):
    """A number or an array that was taken out of a tensor. Holding it keeps its id from being reused."""

    value: Any
    source: _Version
    op: str
    site: CallSite | None


class Borders:
    """Collects borders as they are crossed. Most turn out to be irrelevant, so records are made only at the end."""

    def __init__(self) -> None:
        self._found: list[_Border] = []
        self._behind: dict[int, _Border] = {}  # id of a tensor behind a border -> that border
        self._before: set[int] = set()  # ids of the operands of borders
        self._inner: set[int] = set()  # ids of outputs that another operation of the same call used
        self._left: dict[int, _Left] = {}  # id of the number or array -> how it left the graph
        self._again: dict[tuple[int, Any], TensorState] = {}  # (id of such a number, dtype) -> the tensor made of it

    def __contains__(self, tensor: TensorState) -> bool:
        """Whether the tensor is an operand or an output of a border."""
        return id(tensor) in self._behind or id(tensor) in self._before

    @property
    def were_crossed(self) -> bool:
        """Whether there are any, relevant or not."""
        return bool(self._found)

    def crossed(
        self,
        op: str,
        operands: Sequence[Any],
        outputs: Sequence[Any],
        in_place: bool,
        tape: int,
        *,
        overwrites: bool = False,
        inside: Sequence[TensorState] = (),
    ) -> None:
        """Note an operation without history: a border if an operand has a history, or lost it at an earlier border.

        `inside` are the tensors with a history that the forward of a Function used without being given them.

        A write that `overwrites` a tensor of the tape is noted in any case: a node may have saved the old value.
        """
        made = [one for one in outputs if isinstance(one, TensorState)]
        written = made[0] if in_place else None  # the first operand is this tensor, or a copy of its old value
        values = [written if i == 0 and in_place else self._plain(one) for i, one in enumerate((*operands, *inside))]
        tensors = [one for one in values if isinstance(one, TensorState)]
        if op in _FILLING and written is not None and not overwrites and is_leaf(written):
            return  # initial values of a parameter that nothing has used
        has_history = any(requires_grad(one) for one in tensors)
        if not has_history and not overwrites and not any(id(one) in self._behind for one in tensors):
            return
        if op in _DETACHING:
            written = None  # detaching writes no value
        self._add(
            _Border(
                kind="not an argument" if inside and mode.enabled else _kind(op, has_history),
                op=op,
                site=user_site(),
                operands=tuple(_at(one, one is written) if isinstance(one, TensorState) else one for one in values),
                outputs=tuple(_at(one) for one in made),
                in_place=in_place,
                tape=tape,
            )
        )

    def left(self, op: str, tensor: TensorState, value: Any) -> None:
        """Note that `op` took `value` out of the graph, in case a tensor is made of it later."""
        if requires_grad(tensor) or id(tensor) in self._behind:
            site, source = user_site(), _at(tensor)
            for one in _parts(value):
                self._left[id(one)] = _Left(one, source, op, site)

    def entered(self, value: Any, tensor: TensorState, tape: int) -> TensorState | None:
        """Note that `tensor` was made of `value`: a border if `value` is, or came out of, a tensor with a history.

        Returns the tensor that was made of the same number earlier, if any: to the user they are one number.
        """
        left = (one for one in map(self._source, _parts(value)) if one is not None)
        found = {(id(one.source.tensor), one.op, one.site): one for one in left}
        if not found:
            return None
        lefts = list(found.values())
        alone = lefts[0] if len(lefts) == 1 else None
        if alone is not None and alone.value is value and tensor.meta is NUMBER:
            known = self._again.setdefault((id(value), tensor.array.dtype), tensor)
            if known is not tensor:
                self._behind[id(tensor)] = self._behind[id(known)]
                return known
        sources = {id(one.source.tensor): one.source for one in lefts}
        self._add(
            _Border(
                kind="copied" if any(requires_grad(one.tensor) for one in sources.values()) else "constant",
                op=alone.op if alone is not None else "tensor",
                site=alone.site if alone is not None else user_site(),
                operands=tuple(sources.values()),
                outputs=(_at(tensor),),
                in_place=False,
                tape=tape,
            )
        )
        return None

    def _source(self, part: Any) -> _Left | None:
        """How `part` left the graph; None if it is neither a tensor with a (lost) history nor taken out of one."""
        if isinstance(part, TensorState):
            has_left = requires_grad(part) or id(part) in self._behind
            return _Left(part, _at(part), "tensor", user_site()) if has_left else None
        known = self._left.get(id(part))
        return known if known is not None and known.value is part else None

    def _add(self, border: _Border) -> None:
        for one in border.operands:
            before = self._behind.get(id(one.tensor)) if isinstance(one, _Version) else None
            if before is not None and before.site == border.site and before.op != border.op:
                self._inner.add(id(one.tensor))
        self._found.append(border)
        self._before.update(id(one.tensor) for one in border.operands if isinstance(one, _Version))
        if not border.in_place:
            self._behind.update((id(one.tensor), border) for one in border.outputs)

    def sharing(self, tensor: TensorState) -> Iterator[TensorState]:
        """The tensor, then those with the same memory from which it was made: of which it is a view, or detached."""
        while True:
            yield tensor
            made = self._behind.get(id(tensor))
            if tensor.meta is not None and tensor.meta.view is not None:
                tensor = tensor.meta.view.base
            elif made is not None and made.op == "detach":
                tensor = made.operands[0].tensor
            else:
                return

    def _plain(self, operand: Any) -> Any:
        """The operand; the number itself for a tensor that the engine made of a number of the user's."""
        if isinstance(operand, TensorState) and operand.meta is NUMBER and id(operand) not in self._behind:
            return operand.array.item()
        return operand

    def place_of(self, tensor: TensorState, sources: Sources) -> Place | None:
        """Where a tensor behind a border was made; None if another operation of the same call used it."""
        border = self._behind.get(id(tensor)) if id(tensor) not in self._inner else None
        return sources.place(border.site) if border is not None and border.site is not None else None

    def records(
        self,
        matters: Callable[[int], bool],
        operand: Callable[[Any], Operand],
        ref: Callable[[TensorState, int], TensorRef],
        sources: Sources,
        faults: Faults,
    ) -> tuple[BorderRecord, ...]:
        """The records of the borders that led to a tensor whose id `matters`, directly or by way of others."""
        kept: list[_Border] = []
        needed: set[int] = set()
        for one in reversed(self._found):
            made = [tensor for out in one.outputs for tensor in (self.sharing(out.tensor) if one.in_place else out[:1])]
            if any(id(tensor) in needed or matters(id(tensor)) for tensor in made):
                needed.update(id(value.tensor) for value in one.operands if isinstance(value, _Version))
                kept.append(one)

        def record(one: Any) -> Operand:
            return Operand(ref(*one), "") if isinstance(one, _Version) else operand(one)

        records = []
        for one in reversed(kept):
            with faults.noting(f"where the history of the operands of {one.op} ends"):
                records.append(
                    BorderRecord(
                        kind=one.kind,
                        op=one.op,
                        place=sources.place(one.site) if one.site is not None else None,
                        operands=tuple(map(record, one.operands)),
                        outputs=tuple(ref(*out) for out in one.outputs),
                        in_place=one.in_place,
                        tape=one.tape,
                    )
                )
        return tuple(records)


def _parts(value: Any) -> Iterator[Any]:
    """The numbers, tensors and arrays in a value; for a view of an array, the array that owns the memory.

    NB: ints are left out. Python shares small ones, so their identity says nothing, and they have no derivative.
    """
    if isinstance(value, list | tuple):
        for one in value:
            yield from _parts(one)
    elif isinstance(value, np.ndarray):
        yield memory_owner(value)
    elif isinstance(value, TensorState | float | complex):
        yield value


def _at(tensor: TensorState, before: bool = False) -> _Version:
    """The tensor at its version, or at the version before the last write; inference tensors count no versions."""
    return _Version(tensor, max(version_number(tensor) - before, 0))


def _kind(op: str, has_history: bool) -> BorderKind:
    if not has_history:
        return "constant"
    if op in _DETACHING:
        return "detach"
    if mode.inference:
        return "inference_mode"
    return "not differentiable" if mode.enabled else "no_grad"
