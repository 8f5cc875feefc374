"""Where history ends: what was detached, or computed without being recorded, from tensors that have a history."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

from microtape.call_site import CallSite, user_frame
from microtape.grad_mode import mode
from microtape.recording.model import BorderKind, BorderRecord, Operand, Place, TensorRef
from microtape.recording.places import Sources
from microtape.tensor_state import NUMBER, TensorState, requires_grad, version_number

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


class Borders:
    """Collects borders as they are crossed. Most turn out not to matter, so they become records only at the end."""

    def __init__(self) -> None:
        self._found: list[_Border] = []
        self._behind: dict[int, _Border] = {}  # id of a tensor that lies behind a border -> the one that it came from
        self._before: set[int] = set()  # ids of those that something behind a border was computed from

    def __contains__(self, tensor: TensorState) -> bool:
        """Whether the tensor stands at a border, on either side."""
        return id(tensor) in self._behind or id(tensor) in self._before

    def crossed(self, op: str, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool, tape: int) -> None:
        """Something was computed that leaves no history: of interest if an operand has one, or lost it earlier."""
        made = [one for one in outputs if isinstance(one, TensorState)]
        written = made[0] if in_place else None  # the first operand is it, or a copy of what was there
        values = [written if i == 0 and in_place else plain(one) for i, one in enumerate(operands)]
        tensors = [one for one in values if isinstance(one, TensorState)]
        has_history = any(requires_grad(one) for one in tensors)
        if not has_history and not any(id(one) in self._behind for one in tensors):
            return
        if op in DETACHING:
            written = None  # nothing was
        frame = user_frame(sys._getframe(2))
        self._found.append(
            _Border(
                kind=_kind(op, has_history),
                op=op,
                site=CallSite(frame.f_code, frame.f_lasti) if frame is not None else None,
                operands=tuple(_at(one, one is written) if isinstance(one, TensorState) else one for one in values),
                outputs=tuple(_at(one) for one in made),
                in_place=in_place,
                tape=tape,
            )
        )
        self._before.update(id(one) for one in tensors)
        if not in_place:
            self._behind.update((id(one), self._found[-1]) for one in made)

    def place_of(self, tensor: TensorState, sources: Sources) -> Place | None:
        """Where a tensor behind a border was made."""
        border = self._behind.get(id(tensor))
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


def plain(operand: Any) -> Any:
    """The operand, but a number for a tensor that an operation has put around one."""
    return operand.array.item() if isinstance(operand, TensorState) and operand.meta is NUMBER else operand


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
