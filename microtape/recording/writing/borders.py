"""Where history ends: what was detached, or computed without being recorded, from tensors that have a history."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from microtape.basics.call_site import CallSite, user_frame
from microtape.recording.model.model import BorderKind, BorderRecord, Operand, Place, TensorRef
from microtape.recording.writing.places import Sources
from microtape.tape.grad_mode import mode
from microtape.tape.tensor_state import NUMBER, TensorState, requires_grad, version_number

DETACHING = ("detach", "detach_", "data")


class _Version(NamedTuple):
    """A tensor at a version, before anybody knows whether it matters. Holding it keeps its id from being used again."""

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
    """A number or an array that was taken out of a tensor. Holding it keeps its id from being used again."""

    value: Any
    source: _Version
    op: str
    site: CallSite | None


class Borders:
    """Collects borders as they are crossed. Most turn out not to matter, so they become records only at the end."""

    def __init__(self) -> None:
        self._found: list[_Border] = []
        self._behind: dict[int, _Border] = {}  # id of a tensor that lies behind a border -> the one that it came from
        self._before: set[int] = set()  # ids of those that something behind a border was computed from
        self._inner: set[int] = set()  # ids of those that another operation of the same call took in
        self._left: dict[int, _Left] = {}  # by the id of the number or array
        self._again: dict[tuple[int, Any], TensorState] = {}  # the tensor around such a number, in each dtype

    def __contains__(self, tensor: TensorState) -> bool:
        """Whether the tensor stands at a border, on either side."""
        return id(tensor) in self._behind or id(tensor) in self._before

    def crossed(self, op: str, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool, tape: int) -> None:
        """Something was computed that leaves no history: of interest if an operand has one, or lost it earlier."""
        made = [one for one in outputs if isinstance(one, TensorState)]
        written = made[0] if in_place else None  # the first operand is it, or a copy of what was there
        values = [written if i == 0 and in_place else self._plain(one) for i, one in enumerate(operands)]
        tensors = [one for one in values if isinstance(one, TensorState)]
        has_history = any(requires_grad(one) for one in tensors)
        if not has_history and not any(id(one) in self._behind for one in tensors):
            return
        if op in DETACHING:
            written = None  # nothing was
        self._add(
            _Border(
                kind=_kind(op, has_history),
                op=op,
                site=_site(),
                operands=tuple(_at(one, one is written) if isinstance(one, TensorState) else one for one in values),
                outputs=tuple(_at(one) for one in made),
                in_place=in_place,
                tape=tape,
            )
        )

    def left(self, op: str, tensor: TensorState, value: Any) -> None:
        """`op` took `value` out of the graph: if something is made of it later, that is what it came from."""
        if requires_grad(tensor) or id(tensor) in self._behind:
            site, source = _site(), _at(tensor)
            for one in _parts(value):
                self._left[id(one)] = _Left(one, source, op, site)

    def entered(self, value: Any, tensor: TensorState, tape: int) -> TensorState | None:
        """`tensor` was made of `value`: a border, if that was taken out of a tensor or is one, with a history.

        Returns the tensor that was made of the same number before, if there is one: to the user they are one number.
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
                site=alone.site if alone is not None else _site(),
                operands=tuple(sources.values()),
                outputs=(_at(tensor),),
                in_place=False,
                tape=tape,
            )
        )
        return None

    def _source(self, part: Any) -> _Left | None:
        """How a number or an array left a tensor that has a history, or had one; a tensor leaves as it comes."""
        if isinstance(part, TensorState):
            has_left = requires_grad(part) or id(part) in self._behind
            return _Left(part, _at(part), "tensor", _site()) if has_left else None
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

    def _plain(self, operand: Any) -> Any:
        """The operand, but a number for a tensor that an operation has put around one of the user's own."""
        if isinstance(operand, TensorState) and operand.meta is NUMBER and id(operand) not in self._behind:
            return operand.array.item()
        return operand

    def place_of(self, tensor: TensorState, sources: Sources) -> Place | None:
        """Where a tensor behind a border was made; None for one that was only used on the way to another."""
        border = self._behind.get(id(tensor)) if id(tensor) not in self._inner else None
        return sources.place(border.site) if border is not None and border.site is not None else None

    def records(
        self,
        matters: Container[int],
        operand: Callable[[Any], Operand],
        ref: Callable[[TensorState, int], TensorRef],
        sources: Sources,
    ) -> tuple[BorderRecord, ...]:
        """Those that led to a tensor whose id is in `matters`, and what they were computed from in turn."""
        kept: list[_Border] = []
        needed: set[int] = set()
        for one in reversed(self._found):
            if any(id(out.tensor) in needed or id(out.tensor) in matters for out in one.outputs):
                needed.update(id(value.tensor) for value in one.operands if isinstance(value, _Version))
                kept.append(one)

        def record(one: Any) -> Operand:
            return Operand(ref(*one), "") if isinstance(one, _Version) else operand(one)

        return tuple(
            BorderRecord(
                kind=one.kind,
                op=one.op,
                place=sources.place(one.site) if one.site is not None else None,
                operands=tuple(map(record, one.operands)),
                outputs=tuple(ref(*out) for out in one.outputs),
                in_place=one.in_place,
                tape=one.tape,
            )
            for one in reversed(kept)
        )


def _parts(value: Any) -> Iterator[Any]:
    """The numbers, tensors and arrays in a value, of a part of an array the whole.

    NB: an int says nothing of where it comes from, since Python has small ones once only; it has no derivative either.
    """
    if isinstance(value, list | tuple):
        for one in value:
            yield from _parts(one)
    elif isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        yield value
    elif isinstance(value, TensorState | float | complex):
        yield value


def _site() -> CallSite | None:
    """Where in the user's program this is."""
    frame = user_frame(sys._getframe(1))
    return CallSite(frame.f_code, frame.f_lasti) if frame is not None else None


def _at(tensor: TensorState, before: bool = False) -> _Version:
    """The tensor at its version, or at the one it had before it was written to; an inference tensor counts none."""
    return _Version(tensor, max(version_number(tensor) - before, 0))


def _kind(op: str, has_history: bool) -> BorderKind:
    if not has_history:
        return "constant"
    if op in DETACHING:
        return "detach"
    if mode.inference:
        return "inference_mode"
    return "not differentiable" if mode.enabled else "no_grad"
