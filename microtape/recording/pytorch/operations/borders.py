"""Borders, where history ends: calls whose results depend on a tensor that has a history, and have none themselves."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch

from microtape.recording.model.model import BorderKind
from microtape.recording.pytorch.calls.call_sites import site_in
from microtape.recording.pytorch.calls.function_kinds import word_of
from microtape.recording.pytorch.notes import Operation
from microtape.recording.pytorch.operations.aliases import Aliases
from microtape.recording.pytorch.operations.taken_numbers import TakenNumbers
from microtape.recording.pytorch.operations.writes import Writes
from microtape.recording.pytorch.tensors import Tensors

_COPYING = ("tensor", "as_tensor", "asarray", "new_tensor")
_DETACHING = ("detach", "detach_", "data")
_MOST_WRITES = 8  # into one tensor, of which each holds what was written before: a buffer is written to in every pass


class Borders:
    """What is behind a border, and the calls that cross one."""

    def __init__(self, tensors: Tensors, aliases: Aliases, writes: Writes) -> None:
        self._tensors, self._aliases, self._writes = tensors, aliases, writes
        self.taken = TakenNumbers(tensors)
        self.were_crossed = False  # whether any was

    def has_history(self, tensor: Any) -> bool:
        """Whether a tensor came out of a border, or required a gradient before `detach_`."""
        seen = self._tensors.find(tensor)
        if seen is None and self.taken.arrays and self.taken.enter_by_memory(tensor):
            return True
        return seen is not None and (seen.border is not None or seen.requires_grad)

    def is_view_of_constant(self, result: Any, before: Sequence[tuple[Any, int]]) -> bool:
        """Whether a result is one operand in another shape, and that has no history: `q` of `broadcast_tensors(p, q)`.

        An operand that has one is no part of it then.
        """
        if result.requires_grad or result._base is None or len(before) < 2:
            return False
        same = [one for one, _ in before if one is result._base or one._base is result._base]
        return bool(same) and not any(one.requires_grad or self.has_history(one) for one in same)

    def cross(self, operation: Operation, results: Sequence[Any], has_history: bool, inside: bool) -> None:
        """Note a call whose results are behind a border.

        `has_history` says whether an operand has one, rather than being behind a border itself; `inside`, whether the
        call is that of a Function whose forward uses a tensor that is none of its arguments.
        """
        operation.crosses(_kind(operation, inside) if has_history else "constant")
        self.were_crossed = True
        if operation.word in _DETACHING:
            self._aliases.note_made(operation.operands[0][0])
        for one in results:
            seen, version = self._tensors.read(one)
            is_first = seen.border is None and not one.requires_grad
            if not operation.in_place or operation.word == "detach_" or is_first:
                seen.border = operation
            else:
                self._writes.note_without_node(seen, version, operation)
                if not one.requires_grad and not _is_often_written(seen.border):
                    seen.border = operation  # what is added to a result without a history is part of it
            seen.requires_grad = one.requires_grad

    def enter(self, args: Sequence[Any], result: Any) -> None:
        """A call without a history behind it has computed a tensor: a border if a number was taken out of another."""
        if self.taken.known and self.taken.enter(args, result):
            self.were_crossed = True

    def take(self, function: Any, before: Sequence[tuple[Any, int]], result: Any, frame: FrameType) -> None:
        """A number or an array was taken out of a tensor."""
        for tensor, _ in before[:1]:
            if tensor.requires_grad or self._is_behind(tensor):
                source = self._tensors.read(tensor)
                self.taken.take(result, source, word_of(function), site_in(frame))

    def _is_behind(self, tensor: Any) -> bool:
        seen = self._tensors.find(tensor)
        return seen is not None and seen.border is not None


def _is_often_written(border: Operation | None) -> bool:
    """Whether a tensor out of a border was written to as often as is told."""
    for _ in range(_MOST_WRITES):
        if border is None or not border.in_place:
            return False
        before = border.behind[0] if border.behind else None
        border = before if isinstance(before, Operation) else None
    return True


def _kind(operation: Operation, inside: bool) -> BorderKind:
    """What ends the history of its operands."""
    if operation.word in _DETACHING:
        return "detach"
    if operation.word in _COPYING:
        return "copied"
    if torch.is_inference_mode_enabled():
        return "inference_mode"
    if not torch.is_grad_enabled():
        return "no_grad"
    return "not an argument" if inside else "not differentiable"
