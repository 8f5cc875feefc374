"""What an in-place write replaced."""

from __future__ import annotations

from microtape.recording.model.model import Value
from microtape.recording.writing.copies import frozen
from microtape.tape.in_place import CopySlices
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState
from microtape.tape.views import replay


def old_value(node: Node, before: TensorState, written: TensorState) -> Value:
    """What was in the memory of `written`; `before` is a copy of what `node` has overwritten of it."""
    if not isinstance(node, CopySlices):
        return frozen(before.array)
    whole = written.array.copy()
    replay(node.view, whole)[...] = before.array
    return frozen(whole)
