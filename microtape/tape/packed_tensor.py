"""A saved tensor that a pair of saved-tensor hooks has packed: the node keeps the object that the pack hook returned.

The engine cannot tell whether the data in that object has been overwritten, so versions are not checked, as in torch.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from microtape.tape.grad_mode import GradMode
from microtape.tape.node import DEAD_END, NO_EDGE, AccumulateGrad, Edge, Node
from microtape.tape.tensor_state import (
    TensorState,
    Version,
    edge_of,
    ensure_meta,
    ensure_version,
    new_tensor,
    requires_grad,
    version_number,
)
from microtape.tape.watch import call, watch

Pack = Callable[[Any], Any]
Unpack = Callable[[Any], Any]

PACK_MODIFIES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
    "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to "
    "perform in-place operations on the input to a pack hook."
)


class PackedTensor:
    """What a node keeps of a packed tensor: the packed object, and how to find the tensor's history again.

    If the tensor is an output of the node that saves it, the `saver`, `own_output` is its edge; the reference to that
    node has to be weak. The pack hook gets `seen` if that is given, otherwise `tensor`. Raises RuntimeError if the hook
    writes to it.
    """

    __slots__ = ("__weakref__", "_accumulator", "_edge", "computed_by", "is_output", "packed", "unpack_hook")
    array = None  # the unpack hook has to restore it
    version = Version(touched=True)  # so that unpacking takes the slow path

    def __init__(
        self,
        saver: Node,
        tensor: TensorState,
        own_output: Edge | None,
        pack_hook: Pack,
        unpack_hook: Unpack,
        seen: TensorState | None = None,
    ) -> None:
        self.is_output = own_output is not None
        self.computed_by: weakref.ref[Node] | None = None
        self._accumulator: weakref.ref[AccumulateGrad] | None = None
        self._edge: Edge = NO_EDGE
        if own_output is not None:
            node, output_nr = own_output
            self._edge = (None, output_nr)
            self.computed_by = weakref.ref(node) if node is not None else None
        elif requires_grad(tensor):
            node, _ = self._edge = edge_of(tensor, saved=True)
            if isinstance(node, AccumulateGrad):
                self._accumulator, self._edge = weakref.ref(node), NO_EDGE
        version = version_number(tensor)
        with GradMode(False):
            self.packed = call("pack hook", saver, pack_hook, tensor if seen is None else seen)
        if version_number(tensor) != version:
            raise RuntimeError(PACK_MODIFIES)
        self.unpack_hook = unpack_hook
        if (watcher := watch.watcher) is not None:
            watcher.packed(self, tensor)

    @property
    def output_nr(self) -> int:
        """The index of the tensor among the outputs of the node that computed it."""
        return self._edge[1]

    def unpack(self, node: Node) -> TensorState:
        """Call the unpack hook on the packed object. Raises TypeError if it does not return a Tensor."""
        tensor = call("unpack hook", node, self.unpack_hook, self.packed)
        if not isinstance(tensor, TensorState):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return tensor

    def tensor(self, node: Node) -> TensorState:
        """The unpacked Tensor, with the history of the packed one; `node` is the node that saved it."""
        value = self.unpack(node)
        edge = self._edge
        if self.is_output:
            edge = ((self.computed_by() if self.computed_by is not None else None) or node, edge[1])
        if edge is NO_EDGE and self._accumulator is None and not requires_grad(value):
            return value
        tensor = new_tensor(type(value), value.array, None if edge is DEAD_END else edge)  # that one is a leaf
        tensor.version = ensure_version(value)
        if self._accumulator is not None:
            tensor.edge = None
            ensure_meta(tensor).accumulator = self._accumulator
        return tensor
