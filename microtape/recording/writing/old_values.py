"""What an in-place write replaced: which version, and which value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microtape.recording.model.model import Value
from microtape.recording.writing.copies import frozen
from microtape.tape.in_place import CopySlices
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState, Version, ensure_version
from microtape.tape.views import replay


class VersionsBefore:
    """The versions from before a Function's call, while its forward writes: each write counts, and `mark_dirty` too."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Version, int]] = {}  # holding a counter keeps its id from being reused

    def writing(self, tensor: TensorState, *, in_call: bool) -> bool:
        """`tensor` is about to be written to. Returns whether anything outside of the call can have seen its value."""
        counter = ensure_version(tensor)
        if not in_call:
            self._known.clear()
            return True
        return self._known.setdefault(id(counter), (counter, counter.number))[1] == counter.number

    def before(self, written: TensorState) -> int:
        """The version of a tensor before the call, or the write, that has just ended."""
        counter = ensure_version(written)
        return self._known.get(id(counter), (counter, counter.number - 1))[1]

    def clear(self) -> None:
        """The call has ended."""
        self._known.clear()


def old_value(node: Node, before: TensorState, written: TensorState) -> Value:
    """What was in the memory of `written`; `before` is a copy of what `node` has overwritten of it."""
    if not isinstance(node, CopySlices):
        return frozen(before.array)
    whole = written.array.copy()
    replay(node.view, whole)[...] = before.array
    return frozen(whole)


def dirty_output(operand: Any, outputs: Sequence[Any]) -> TensorState | None:
    """The output of a Function that is this operand, or whose view it is: what the Function has marked dirty."""
    if not isinstance(operand, TensorState):
        return None
    view = operand.meta.view if operand.meta is not None else None
    same = (operand,) if view is None else (operand, view.base)
    return next((one for one in outputs if any(one is other for other in same)), None)
