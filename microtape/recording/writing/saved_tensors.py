"""What a node saved for backward, as far as a recording tells of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from microtape.recording.writing.names.node_text import absent_operands, inner
from microtape.tape.node import Node
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.saved import SavedTensor
from microtape.tape.tensor_state import TensorState


def saved_items(node: Node) -> Iterator[tuple[int, str, TensorState | SavedTensor]]:
    """What the node saved of what the program gave it, or of its outputs: each with its position and its name."""
    function = inner(node)
    absent = absent_operands(function)
    for i, item in enumerate(function.saved or ()):
        if item is None or isinstance(item, PackedTensor):  # packed before the recorder watched: unknown
            continue
        if not absent or function.saved_names[i] not in absent:
            yield i, function.saved_names[i], item


def saved_inputs(node: Node) -> Mapping[int, TensorState]:
    """The operands that are among the node's saved tensors, by position."""
    if node.kind == "copy_slices":
        return {}
    return {
        source: item
        for source, item in zip(node.sources, node.saved or (), strict=False)
        if source >= 0 and isinstance(item, TensorState)
    }
